// Connections by who holds them: the address of a stranger, or the owner that a handler named.
// Internal to the HTTP server.
//
// Thread: one. Lifetime: a session removes itself before it dies. Failure: none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace amdahl {

class HttpSession;

class HttpHolders {
 public:
  // What happens to a holder whose connections all have a request under way.
  enum class Busy : std::uint8_t { kStay, kAreCutOff };

  explicit HttpHolders(Busy busy) : busy_(busy) {}

  void add(const std::string& holder, HttpSession* session) {
    by_holder_[holder].push_back(session);
  }
  void remove(const std::string& holder, HttpSession* session);
  void clear() { by_holder_.clear(); }

  std::size_t of(const std::string& holder) const;
  // Closes the oldest without a request under way. False: nothing was closed.
  bool close_one_of(const std::string& holder);
  // Of the holder with the most, if it has more than `spared`.
  bool close_one(std::size_t spared);

 private:
  using Holders = std::map<std::string, std::vector<HttpSession*>>;  // oldest first
  bool close_in(Holders::iterator holder);

  Busy busy_;
  Holders by_holder_;
};

}  // namespace amdahl

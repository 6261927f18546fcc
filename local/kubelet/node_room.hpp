// What pods are given numbers of: GPU slots of a node, loopback addresses of the machine.
//
// Thread: one. Failure: nothing when all are taken.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace amdahl::local {

// The GPU slots of one node, 0 .. count-1, each held by at most one pod.
class GpuSlots {
 public:
  explicit GpuSlots(std::int64_t count) : count_(count) {}
  // The lowest free ones; nullopt when there are not enough. A holder asks once.
  std::optional<std::vector<int>> take(const std::string& holder, std::int64_t wanted);
  void give_back(const std::string& holder);
  std::int64_t free() const { return count_ - static_cast<std::int64_t>(holders_.size()); }
  std::int64_t count() const { return count_; }

 private:
  std::int64_t count_;
  std::map<int, std::string> holders_;
};

// 127.64.0.1 and up; every address of 127.0.0.0/8 answers on the loopback interface.
class Addresses {
 public:
  // The holder's own when it has one, `wish` if it is free, else the next free one.
  std::optional<std::string> take(const std::string& holder, std::string_view wish = "");
  void give_back(const std::string& holder);

 private:
  bool claim(const std::string& holder, const std::string& address);

  std::map<std::string, std::string> by_holder_;
  std::set<std::string> taken_;
  std::uint32_t next_ = 0;
};

}  // namespace amdahl::local

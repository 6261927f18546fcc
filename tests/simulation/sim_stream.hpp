// One watch on its way from the simulated server to a process: late, twice, together, or not at
// all.
//
// Thread: one. Lifetime: shared by the reader, the server's feed and packets under way.
#pragma once

#include <deque>
#include <memory>
#include <span>
#include <string>

#include "base/deadline.hpp"
#include "operator/kube/transport.hpp"
#include "tests/simulation/fault_book.hpp"
#include "tests/simulation/process_clock.hpp"
#include "tests/simulation/sim_server.hpp"

namespace amdahl::simulation {

struct StreamState final : WatchFeed, std::enable_shared_from_this<StreamState> {
  struct Reader {
    std::int32_t replica = 0;
    std::string kind = {};  // its plural
  };
  StreamState(boost::asio::any_io_executor executor, Agenda& agenda_, FaultBook& book_, Rng rng_,
              Reader reader_)
      : agenda(agenda_),
        book(book_),
        rng(rng_),
        reader(std::move(reader_)),
        changed(std::move(executor)) {}

  void take(std::string lines) override;
  void end() override;
  void break_now();
  // The stream lags like a frozen replica of the server until then.
  void hold_until(Monotonic when) { not_before = when; }

  Agenda& agenda;
  FaultBook& book;
  Rng rng;
  Reader reader;
  Notify changed;
  Monotonic not_before{};
  Monotonic last_due{};
  std::deque<std::string> under_way;  // batches, oldest first
  std::string ready;
  bool ended = false;
  bool broken = false;

 private:
  Monotonic due();
  const Fault* open(FaultKind kind) const { return book.open(kind, reader.replica, agenda.now()); }
  void deliver();
  void collapse();
};

class SimStream final : public kube::BodyStream {
 public:
  SimStream(std::shared_ptr<StreamState> state, ProcessClock& clock)
      : state_(std::move(state)), clock_(clock) {}
  Task<Result<std::size_t>> read(std::span<char> into, Monotonic deadline) override;

 private:
  std::shared_ptr<StreamState> state_;
  ProcessClock& clock_;
};

// Whether a reorder makes this kind late: every other one, and others at other times.
bool is_late(std::string_view kind, const Fault& reorder);
// Of several updates of one object only the last stays: what a slow reader sees after a relist.
std::string coalesced(const std::string& lines);
// Each line twice in a row.
std::string duplicated(const std::string& lines);

}  // namespace amdahl::simulation

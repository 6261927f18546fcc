// The embedded API server's core in virtual time: what is handled is durable at once, and watches
// are pulled when something has happened.
//
// Thread: one. Lifetime: agenda, clock and ledger outlive it; it outlives its feeds. Failure: as
// ApiServer says.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/fields.hpp"
#include "base/rng.hpp"
#include "local/apiserver/core/api_server.hpp"
#include "local/apiserver/core/restore.hpp"
#include "local/apiserver/rules/served_kinds.hpp"
#include "tests/simulation/agenda.hpp"
#include "tests/simulation/ledger.hpp"

namespace amdahl::simulation {

// One open watch, as the server sees it. take() gets whole lines; end() is the last call.
class WatchFeed {
 public:
  virtual ~WatchFeed() = default;
  virtual void take(std::string lines) = 0;
  virtual void end() = 0;
};

// What servers begin with: the namespace, and definitions of kinds that are compiled already.
// Lifetime: the schemas outlive it, and it outlives its servers.
class StartState {
 public:
  StartState(const local::BuiltinSchemas& schemas, const std::vector<std::string>& definitions);

 private:
  friend class SimServer;
  std::unique_ptr<local::Identities> identities_;
  local::ServedKinds kinds_;
  std::vector<local::Restored> objects_;
  std::uint64_t version_ = 0;
};

class SimServer {
 public:
  using OnMutation = std::function<void(const local::Mutation&)>;

  SimServer(const StartState& start, Rng rng, ManualClock& clock, Agenda& agenda, Ledger& ledger);

  local::Reply handle(const Actor& actor, const local::Call& call);
  // Short ways for the user, the scheduler and the kubelet; the object or the refusal.
  int write(const Actor& actor, std::string method, std::string target, std::string body);
  Json read(std::string target);

  // Pulls the stream whenever something happened, until it ends or the feed is gone.
  void follow(std::unique_ptr<local::WatchStream> stream, std::weak_ptr<WatchFeed> feed);
  void on_mutation(OnMutation handler) { on_mutation_ = std::move(handler); }
  void compact() { server_.compact(server_.version()); }
  // Something is written before history goes, so that nobody can go on from what he has read.
  void forget();
  void jump_wall(std::chrono::microseconds step) { offset_ += step; }
  std::uint64_t version() const { return server_.version(); }
  const local::ObjectTable& table() const { return server_.table(); }

 private:
  struct Followed {
    std::unique_ptr<local::WatchStream> stream;
    std::weak_ptr<WatchFeed> feed;
    bool ended = false;
  };
  WallTime wall() const { return clock_.wall() + offset_; }
  void happened(const Actor& actor);
  void pull(Followed& followed);
  void tick();
  void tick_soon();

  ManualClock& clock_;
  Agenda& agenda_;
  Ledger& ledger_;
  local::ServedKinds kinds_;
  local::ApiServer server_;
  std::vector<Followed> followed_;
  OnMutation on_mutation_;
  std::chrono::microseconds offset_{0};
  bool tick_scheduled_ = false;
};

}  // namespace amdahl::simulation

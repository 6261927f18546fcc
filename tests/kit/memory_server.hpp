// A small, honest API server in memory, for tests in virtual time.
//
//   MemoryServer server(io.get_executor(), clock);
//   MemoryTransport wire(server, clock);
//   kube::Client client(wire, clock, Rng(1));
//   server.inject(Fault::kLoseAnswer, "POST");     // the next create happens, its answer is lost
//
// Keeps what clients rely on: versions grow, UIDs identify, stale versions and taken names are 409,
// deletes have preconditions, finalizers hold objects back, status is a subresource, apply knows
// who owns a field, equal writes change nothing, watches have initial events and bookmarks.
// Thread: one. Lifetime: outlives its transports and their streams. Failure: as a server's.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/deadline.hpp"
#include "base/fields.hpp"
#include "operator/kube/request.hpp"
#include "operator/kube/selector.hpp"
#include "operator/kube/transport.hpp"

namespace amdahl::testkit {

enum class Fault : std::uint8_t {
  kLoseAnswer,   // done, but the connection breaks before the answer
  kDrop,         // the connection breaks before anything is done
  kThrottle,     // 429 with Retry-After: 1
  kUnavailable,  // 503
};

class MemoryServer {
 public:
  MemoryServer(boost::asio::any_io_executor executor, Clock& clock);

  kube::Response handle(const kube::Request& request);

  // What a test does and sees; these pass by no fault and no fence.
  Json find(const kube::Resource& resource, const kube::ObjectKey& key) const;  // null: absent
  std::vector<Json> list(const kube::Resource& resource) const;
  Json create(const kube::Resource& resource, Json object);
  Json merge(const kube::Resource& resource, const kube::ObjectKey& key, const Json& patch,
             std::string_view subresource = "");
  void remove(const kube::Resource& resource, const kube::ObjectKey& key);
  std::uint64_t version() const { return version_; }
  const std::vector<std::string>& writes() const { return writes_; }  // "POST /api/v1/..."
  std::size_t count_writes(std::string_view part) const;

  // The next `times` requests of that method whose target contains `part` meet the fault.
  void inject(Fault fault, std::string_view method, std::string_view part = "", int times = 1);
  // Watches of that kind stand still; "" means all.
  void hold_watches(std::string_view plural) { held_.emplace(plural); }
  void release_watches();
  void send_bookmarks();  // to every open watch
  void compact();         // watches from before now are told 410

 private:
  friend class MemoryTransport;
  friend class MemoryStream;
  struct Target {
    std::string collection{};  // "apps/deployments", "/pods"
    std::string ns{};
    std::string name{};
    std::string subresource{};
    std::map<std::string, std::string> query{};
  };
  struct Change {
    std::uint64_t version = 0;
    std::string collection{};
    Json before{};
    Json now{};  // null: deleted; `before` then carries the version of the deletion
  };
  using Collection = std::map<kube::ObjectKey, Json>;
  // Which manager set which leaf by apply or create: "spec/replicas" -> "kubectl".
  using Managers = std::map<std::string, std::string>;

  static std::optional<Target> parse(std::string_view target);
  kube::Response get(const Target& target) const;
  kube::Response list_all(const Target& target) const;
  kube::Response post(const Target& target, Json object);
  kube::Response patch(const Target& target, std::string_view type, const Json& change);
  kube::Response apply(const Target& target, Json intent);
  kube::Response replace(const Target& target, Json next);
  kube::Response erase(const Target& target, const Json& options);
  Json commit(const std::string& collection, const kube::ObjectKey& key, Json before, Json now);
  std::optional<Fault> take_fault(const kube::Request& request);
  Managers& managers_of(const Target& target);
  void note_manager(const Target& target, const Json& object);
  const Json* stored(const Target& target) const;

  struct Injected {
    Fault fault = Fault::kDrop;
    std::string method{};
    std::string part{};
    int times = 1;
  };

  Clock& clock_;
  Notify changed_;
  std::map<std::string, Collection> collections_;
  std::map<std::string, Managers> managers_;
  std::vector<Change> history_;
  std::vector<std::string> writes_;
  std::vector<Injected> faults_;
  std::set<std::string, std::less<>> held_;
  std::uint64_t version_ = 100;
  std::uint64_t compacted_ = 0;
  std::uint64_t bookmarks_ = 0;
  std::uint64_t next_uid_ = 1;
};

// The wire between one process and the server; each process has its own, with its own fence.
class MemoryTransport final : public kube::Transport {
 public:
  MemoryTransport(MemoryServer& server, Clock& clock) : server_(server), clock_(clock) {}
  Task<Result<kube::Response>> send(kube::Request request, Monotonic deadline) override;
  Task<Result<kube::StreamResponse>> open(kube::Request request, Monotonic head_deadline) override;
  void set_fence(const kube::WriteFence* fence) override { fence_ = fence; }
  std::chrono::nanoseconds latency{0};  // each way
  bool broken = false;                  // every request fails: a network partition

 private:
  MemoryServer& server_;
  Clock& clock_;
  const kube::WriteFence* fence_ = nullptr;
};

}  // namespace amdahl::testkit

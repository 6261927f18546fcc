// Holds a Lease for this process, and fences its writes by it (E1, E2, E4).
//
// The rules are in lease_step.hpp; this sends the requests, on their own lane and with short
// deadlines, so that a flood of other traffic does not cost the lease (E7).
//
// Thread: one. Lifetime: outlives the transport it fences; client outlives it. Failure: hold()
// returns when leadership is lost, and then the process has to end at once: whatever else it would
// still do, it would do beside a new leader.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "base/clock.hpp"
#include "base/json_reader.hpp"
#include "base/log.hpp"
#include "base/result.hpp"
#include "base/rng.hpp"
#include "base/task.hpp"
#include "operator/controller/lease_step.hpp"
#include "operator/controller/metrics.hpp"
#include "operator/controller/writer.hpp"
#include "operator/kube/client.hpp"
#include "operator/kube/transport.hpp"

namespace amdahl::controller {

struct LeaderElectionOptions {
  ObjectKey lease{};       // "amdahl-system/amdahl-operator"
  std::string identity{};  // unique for each start of a process: pod name and a random part
  LeaseTimings timings{};
};
Result<void> validate(const LeaderElectionOptions& options);

class LeaderElection final : public kube::WriteFence {
 public:
  // The options are valid.
  LeaderElection(kube::Client& client, Rng rng, LeaderElectionOptions options,
                 LeaderMetrics& metrics, Log log);

  // Returns when this process leads; Errc::kCancelled when stopped.
  Task<Result<Epoch>> acquire();
  // Renews until the lease is lost, or may be: then says why. Errc::kCancelled when stopped.
  Task<Error> hold();
  // Gives the lease up, so that the next leader need not wait. Writes are fenced from here on.
  Task<Result<void>> release();

  // True until the renew deadline after the last confirmed renewal was sent (E2).
  bool may_write(Monotonic now) const override;
  bool leading() const { return state_.leading; }
  Monotonic valid_until() const { return state_.valid_until; }

 private:
  Task<LeaseInput> perform(LeaseStep step);
  Task<LeaseInput> exchange(Result<kube::Request> request);
  Task<bool> pause(double jitter);
  Result<kube::Request> read_request() const;
  Result<kube::Request> create_request(const LeaseRecord& record) const;
  Result<kube::Request> write_request(const LeaseRecord& record) const;
  void became_leader();
  void report(const Error& error);

  kube::Client& client_;
  Clock& clock_;
  Rng rng_;
  JsonReader reader_;  // keeps its buffers from one renewal to the next
  LeaderElectionOptions options_;
  LeaderMetrics& metrics_;
  Log log_;
  LeaseCandidate candidate_;
  LeaseState state_;
  std::string last_problem_;
};

}  // namespace amdahl::controller

// The wire for clients that live in the server's own process: no socket, no token, the same
// answers.
//
//   InProcessTransport wire(server, clock, {.name = "system:kube-scheduler", .groups = {...}});
//   kube::Client client(wire, clock, rng.split());
//
// Thread: the server's. Lifetime: the server outlives it; it outlives its streams. Failure: as
// transport.hpp says; there is no network to break, so an error is a deadline or a fence.
#pragma once

#include "base/clock.hpp"
#include "local/apiserver/front/durable_server.hpp"
#include "operator/kube/transport.hpp"

namespace amdahl::local {

class InProcessTransport final : public kube::Transport {
 public:
  // `user` is who the server sees; its name is also the default field manager.
  InProcessTransport(DurableServer& server, Clock& clock, User user);

  Task<Result<kube::Response>> send(kube::Request request, Monotonic deadline) override;
  Task<Result<kube::StreamResponse>> open(kube::Request request, Monotonic head_deadline) override;
  void set_fence(const kube::WriteFence* fence) override { fence_ = fence; }

 private:
  Task<Result<Reply>> answer(kube::Request request, Monotonic deadline);

  DurableServer& server_;
  Clock& clock_;
  User user_;
  const kube::WriteFence* fence_ = nullptr;
};

}  // namespace amdahl::local

// A transport that counts and times what passes through it.
//
// Thread: one. Lifetime: the transport below and the registry outlive it. Failure: none added;
// answers and errors are passed on unchanged.
#pragma once

#include "base/metrics.hpp"
#include "operator/kube/request_metrics.hpp"
#include "operator/kube/transport.hpp"

namespace amdahl::kube {

class CountedTransport final : public Transport {
 public:
  CountedTransport(Transport& below, Clock& clock, MetricsRegistry& registry);

  Task<Result<Response>> send(Request request, Monotonic deadline) override;
  Task<Result<StreamResponse>> open(Request request, Monotonic head_deadline) override;
  void set_fence(const WriteFence* fence) override { below_.set_fence(fence); }

 private:
  void count(Verb verb, int status, Monotonic start);

  Transport& below_;
  Clock& clock_;
  RequestMetrics metrics_;
};

}  // namespace amdahl::kube

// Between the watch of TrainingJobs and their cache: one job that this program cannot read, of a
// newer CRD or with a template nested beyond all bounds, must not keep it from all others.
//
// If everything but the template can be read, the job is cached with an empty template and a mark,
// and decide() refuses it; otherwise with its metadata or its identity alone, and decide() leaves
// it alone. It is never taken part by part, as objects of other kinds are: a job without its mark
// would be acted upon. Everything else goes through. Thread: one. Lifetime: the cache outlives it.
// Failure: an object without an identity is an error, as without this.
#pragma once

#include <functional>
#include <string>

#include "operator/training/caches.hpp"

namespace amdahl::training {

class JobSink final : public kube::ObjectSink {
 public:
  using OnProblem = std::function<void(const Error&)>;
  JobSink(controller::Store<TrainingJob>& jobs, OnProblem on_unreadable)
      : jobs_(jobs), on_unreadable_(std::move(on_unreadable)) {}

  Result<std::string_view> decode(kube::RawObject object) override;
  void begin_stage() override { jobs_.begin_stage(); }
  void stage() override { jobs_.stage(); }
  void publish(std::string_view version) override { jobs_.publish(version); }
  void apply(kube::EventKind kind) override { jobs_.apply(kind); }
  void advance(std::string_view version) override { jobs_.advance(version); }

 private:
  Result<std::string_view> decode_instead(const Json& job);

  controller::Store<TrainingJob>& jobs_;
  OnProblem on_unreadable_;
  std::string substitute_;
};

}  // namespace amdahl::training

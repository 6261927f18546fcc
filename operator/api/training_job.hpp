// TrainingJob, amdahl.dev/v1alpha1, as a whole.
//
// The metadata of an object is the client's business, so it is a parameter:
//   struct TrainingJob : api::TrainingJobOf<kube::ObjectMeta> {
//     static const kube::Resource& resource();
//   };
// Plain values, any thread.
#pragma once

#include "operator/api/training_job_spec.hpp"
#include "operator/api/training_job_status.hpp"

namespace amdahl::api {

template <class Meta>
struct TrainingJobOf {
  Meta metadata = {};
  TrainingJobSpec spec = {};
  TrainingJobStatus status = {};
  bool operator==(const TrainingJobOf&) const = default;
};
template <class V, class Meta>
constexpr void fields(V& v, TrainingJobOf<Meta>& job) {
  v.required("metadata", job.metadata);
  v.required("spec", job.spec, {.doc = "What is wanted."});
  v.optional("status", job.status, {.doc = "What is; written by the operator."});
}

}  // namespace amdahl::api

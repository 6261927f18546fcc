// Every kind with a field table, so that each fuzzer of tables covers all of them.
#pragma once

#include <cstdint>

#include "operator/api/training_job.hpp"
#include "operator/kube/types.hpp"

namespace amdahl::fuzz {

// Calls visit.operator()<Kind>() for the kind that `which` picks.
template <class Visit>
void with_kind(std::uint8_t which, Visit visit) {
  using namespace amdahl::kube;
  switch (which % 14U) {
    case 0:
      return visit.template operator()<Pod>();
    case 1:
      return visit.template operator()<Node>();
    case 2:
      return visit.template operator()<ConfigMap>();
    case 3:
      return visit.template operator()<Service>();
    case 4:
      return visit.template operator()<Event>();
    case 5:
      return visit.template operator()<Lease>();
    case 6:
      return visit.template operator()<Status>();
    case 7:
      return visit.template operator()<TokenReview>();
    case 8:
      return visit.template operator()<SubjectAccessReview>();
    case 9:
      return visit.template operator()<SelfSubjectAccessReview>();
    case 10:
      return visit.template operator()<ApiResourceList>();
    case 11:
      return visit.template operator()<PodGroup>();
    case 12:
      return visit.template operator()<Namespace>();
    default:
      return visit.template operator()<api::TrainingJobOf<ObjectMeta>>();
  }
}

}  // namespace amdahl::fuzz

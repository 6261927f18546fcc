// Reports come from programs of other people: of metrics and phases with one name the last counts.
#pragma once

#include "base/list_keys.hpp"
#include "operator/api/report.hpp"

namespace amdahl::api {

// Before validate(), which takes each name once, as the API server does.
inline void keep_last_of_each_name(Report& report) {
  keep_last_of_each_key(report.metrics, "name");
  keep_last_of_each_key(report.phases, "name");
}

}  // namespace amdahl::api

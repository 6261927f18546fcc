// Cells of single kinds; see table.hpp.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "base/clock.hpp"

namespace amdahl::local {

using Json = nlohmann::json;

// table_pod.cpp
Json pod_cells(const Json& pod, WallTime now);
Json pod_row_conditions(const Json& pod);  // what clients use to tell that a pod is finished

// table_cells.cpp
Json service_cells(const Json& service, WallTime now);
Json node_cells(const Json& node, WallTime now);
Json event_cells(const Json& event, WallTime now);
Json endpoints_cells(const Json& endpoints, WallTime now);
Json endpoint_slice_cells(const Json& slice, WallTime now);
Json volume_claim_cells(const Json& claim, WallTime now);
Json volume_cells(const Json& volume, WallTime now);

// table_workload.cpp
Json deployment_cells(const Json& deployment, WallTime now);
Json replica_set_cells(const Json& set, WallTime now);
Json job_cells(const Json& job, WallTime now);
Json role_binding_cells(const Json& binding, WallTime now);
std::string selector_text(const Json& selector);  // "a=b,c in (d)", "<none>"
std::string labels_text(const Json& labels);      // "a=b,c=d", "<none>"

}  // namespace amdahl::local

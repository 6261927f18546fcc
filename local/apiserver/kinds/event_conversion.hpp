// Events have two groups and one storage: core/v1 is what is stored.
//
// Pure functions; members that only one side knows keep their value under the other side's name.
#pragma once

#include <nlohmann/json.hpp>

namespace amdahl::local {

// events.k8s.io/v1 from what is stored.
nlohmann::json event_to_events_v1(const nlohmann::json& stored);
// What is stored, from an events.k8s.io/v1 body.
nlohmann::json event_to_core(const nlohmann::json& event);

}  // namespace amdahl::local

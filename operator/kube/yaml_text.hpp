// JSON values as YAML text, as `kubectl get -o yaml` prints them: block style, keys in order,
// quotes where a text would be read as something else.
//
// Pure. Failure: none; text that is not UTF-8 gets replacement characters.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace amdahl::kube {

// Ends with a newline; parse_yaml() and to_json() of yaml_bounded.hpp give the value back.
std::string to_yaml(const nlohmann::json& value);

}  // namespace amdahl::kube

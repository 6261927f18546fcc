// Causes in the words of Kubernetes' field errors ("Invalid value: 0: ..."), and Go's ways to
// print.
//
// Pure functions; any thread; they never fail. A path that is empty is printed as "<nil>", which is
// what a kube-apiserver says of the whole object.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>

#include "local/apiserver/model/cause.hpp"

namespace amdahl::local {

Cause required_cause(std::string_view path, std::string_view detail);
Cause forbidden_cause(std::string_view path, std::string_view detail);
Cause invalid_cause(std::string_view path, const nlohmann::json& value, std::string_view detail);
Cause type_invalid_cause(std::string_view path, std::string_view actual, std::string_view detail);
Cause duplicate_cause(std::string_view path, const nlohmann::json& value);
Cause not_supported_cause(std::string_view path, const nlohmann::json& value,
                          std::span<const std::string> supported);
Cause too_long_cause(std::string_view path, std::int64_t max);
Cause too_many_cause(std::string_view path, std::size_t actual, std::int64_t max);

// strings.TrimSpace, as far as ASCII goes.
std::string_view go_trimmed(std::string_view text);
// strconv.Quote: what %q prints.
std::string go_quote(std::string_view text);
// What %v prints of a float64: an exponent only below 1e-4 and from 1e21 on.
std::string go_float(double value);
// encoding/json: sorted keys, no ".0", and <, > and & escaped. Deeper than kJsonTextDepthMax:
// "...".
std::string go_json(const nlohmann::json& value);
// How a field error shows a value: plain for numbers and booleans, quoted for strings, else JSON.
std::string go_value(const nlohmann::json& value);

inline constexpr int kJsonTextDepthMax = 200;

}  // namespace amdahl::local

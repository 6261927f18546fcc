// The part of a checkpoint that is no tensor: a JSON tree in which numbers are 64-bit integers and
// an object with one name that begins with "$" stands for what JSON cannot say:
//
//   {"$tensor":"NAME"}   {"$float":"0.001"}   {"$int":"123..."}   {"$bytes":"base64"}
//   {"$tuple":[...]}     {"$map":[[key,value],...]}
//
// A float is the shortest decimal that gives the same double, or "nan", "inf", "-inf": text, since
// JSON has no word for some and writers differ in the digits of the rest. Any other name that
// begins with "$" is refused. Thread: any. Failure: Errc::kInvalid with the path.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace amdahl::checkpoint {

inline constexpr int kStateDepthMax = 64;
inline constexpr std::size_t kIntDigitsMax = 1024;

// Gives the names of all tensors that the tree refers to, as often as it does.
Result<std::vector<std::string>> check_state(const nlohmann::json& state);

bool is_float_text(std::string_view text);
std::string float_text(double value);

}  // namespace amdahl::checkpoint

// One reason why an object was refused, as metav1.StatusCause has it.
//
// A plain value. `message` is without the field: "Invalid value: 0: should be at least 1".
#pragma once

#include <string>
#include <string_view>

namespace amdahl::local {

struct Cause {
  std::string reason = {};   // "FieldValueInvalid", one of the names below
  std::string message = {};  // "Invalid value: \"x\": must be ..."
  std::string field = {};    // "spec.containers[0].name"
  bool operator==(const Cause&) const = default;
};

inline constexpr std::string_view kCauseInvalid = "FieldValueInvalid";
inline constexpr std::string_view kCauseRequired = "FieldValueRequired";
inline constexpr std::string_view kCauseDuplicate = "FieldValueDuplicate";
inline constexpr std::string_view kCauseNotSupported = "FieldValueNotSupported";
inline constexpr std::string_view kCauseForbidden = "FieldValueForbidden";
inline constexpr std::string_view kCauseTooLong = "FieldValueTooLong";
inline constexpr std::string_view kCauseTooMany = "FieldValueTooMany";
inline constexpr std::string_view kCauseTypeInvalid = "FieldValueTypeInvalid";
inline constexpr std::string_view kCauseConflict = "FieldManagerConflict";

}  // namespace amdahl::local

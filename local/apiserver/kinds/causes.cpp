#include "local/apiserver/kinds/causes.hpp"

#include <algorithm>

#include "local/apiserver/kinds/builtin_rules.hpp"
#include "local/apiserver/kinds/json_access.hpp"

namespace amdahl::local {

namespace {

std::string shown(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string with(std::string head, std::string_view detail) {
  if (!detail.empty()) {
    head += ": ";
    head += detail;
  }
  return head;
}

}  // namespace

FieldPath FieldPath::child(std::string_view name) const {
  std::string text = text_;
  if (!text.empty()) text += '.';
  text += name;
  return FieldPath(std::move(text));
}

FieldPath FieldPath::index(std::size_t index) const {
  return FieldPath(text_ + "[" + std::to_string(index) + "]");
}

FieldPath FieldPath::key(std::string_view key) const {
  std::string text = text_ + "[";
  text += key;
  text += ']';
  return FieldPath(std::move(text));
}

void Causes::add(std::string_view reason, std::string message, const FieldPath& path) {
  if (causes_.size() >= kRuleCausesMax) return;
  causes_.push_back(
      {.reason = std::string(reason), .message = std::move(message), .field = path.text()});
}

void Causes::required(const FieldPath& path, std::string_view detail) {
  add(kCauseRequired, with("Required value", detail), path);
}

void Causes::invalid(const FieldPath& path, const Json& value, std::string_view detail) {
  invalid_text(path, shown(value), detail);
}

void Causes::invalid_text(const FieldPath& path, std::string_view shown, std::string_view detail) {
  add(kCauseInvalid, with("Invalid value: " + std::string(shown), detail), path);
}

void Causes::invalid(const FieldPath& path, const Json& value,
                     const std::vector<std::string>& details) {
  for (const std::string& detail : details) invalid(path, value, detail);
}

void Causes::not_supported(const FieldPath& path, const Json& value,
                           std::initializer_list<std::string_view> supported) {
  not_supported_text(path, shown(value), supported);
}

void Causes::not_supported_text(const FieldPath& path, std::string_view shown,
                                std::initializer_list<std::string_view> supported) {
  std::string message = "Unsupported value: " + std::string(shown) + ": supported values: ";
  bool first = true;
  for (const std::string_view one : supported) {
    if (!first) message += ", ";
    first = false;
    message += '"';
    message += one;
    message += '"';
  }
  add(kCauseNotSupported, std::move(message), path);
}

void Causes::duplicate(const FieldPath& path, const Json& value, std::string_view detail) {
  duplicate_text(path, shown(value), detail);
}

void Causes::duplicate_text(const FieldPath& path, std::string_view shown,
                            std::string_view detail) {
  add(kCauseDuplicate, with("Duplicate value: " + std::string(shown), detail), path);
}

void Causes::forbidden(const FieldPath& path, std::string_view detail) {
  add(kCauseForbidden, with("Forbidden", detail), path);
}

void Causes::not_found(const FieldPath& path, const Json& value) {
  add(kCauseNotFound, "Not found: " + shown(value), path);
}

void Causes::too_long(const FieldPath& path, std::size_t bytes_max) {
  add(kCauseTooLong, "Too long: may not be more than " + std::to_string(bytes_max) + " bytes",
      path);
}

bool Causes::one_of(const FieldPath& path, std::string_view text,
                    std::initializer_list<std::string_view> supported) {
  if (std::ranges::find(supported, text) != supported.end()) return true;
  not_supported(path, text, supported);
  return false;
}

void Causes::not_negative(const FieldPath& path, const Json& object, std::string_view name) {
  const auto number = number_at(object, {name});
  if (number.value_or(0) < 0) {
    invalid(path.child(name), *number, "must be greater than or equal to 0");
  }
}

void Causes::append(std::vector<Cause> more) {
  for (Cause& cause : more) {
    if (causes_.size() < kRuleCausesMax) causes_.push_back(std::move(cause));
  }
}

}  // namespace amdahl::local

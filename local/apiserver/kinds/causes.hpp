// Collecting what is wrong with an object, in kube-apiserver's words.
//
// Causes keeps at most kRuleCausesMax and ignores the rest. FieldPath is a value; both live inside
// one call of a rule.
#pragma once

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "local/apiserver/model/cause.hpp"

namespace amdahl::local {

using Json = nlohmann::json;

inline constexpr std::string_view kCauseNotFound = "FieldValueNotFound";

// "spec.containers[0].env": FieldPath("spec").child("containers").index(0).child("env").
class FieldPath {
 public:
  explicit FieldPath(std::string text = {}) : text_(std::move(text)) {}
  FieldPath child(std::string_view name) const;
  FieldPath index(std::size_t index) const;
  FieldPath key(std::string_view key) const;
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

class Causes {
 public:
  void required(const FieldPath& path, std::string_view detail = {});
  void invalid(const FieldPath& path, const Json& value, std::string_view detail);
  void invalid(const FieldPath& path, const Json& value, const std::vector<std::string>& details);
  void not_supported(const FieldPath& path, const Json& value,
                     std::initializer_list<std::string_view> supported);
  void duplicate(const FieldPath& path, const Json& value, std::string_view detail = {});
  // Where Kubernetes shows a value in the order and names of its own types.
  void duplicate_text(const FieldPath& path, std::string_view shown, std::string_view detail = {});
  void invalid_text(const FieldPath& path, std::string_view shown, std::string_view detail);
  void not_supported_text(const FieldPath& path, std::string_view shown,
                          std::initializer_list<std::string_view> supported);
  void forbidden(const FieldPath& path, std::string_view detail);
  void not_found(const FieldPath& path, const Json& value);
  void too_long(const FieldPath& path, std::size_t bytes_max);

  // Adds NotSupported unless the text is one of the list; true if it was.
  bool one_of(const FieldPath& path, std::string_view text,
              std::initializer_list<std::string_view> supported);
  // "must be greater than or equal to 0" for the number at object[name], if there is one.
  void not_negative(const FieldPath& path, const Json& object, std::string_view name);

  void append(std::vector<Cause> more);  // what another part of the server found

  std::vector<Cause> take() { return std::move(causes_); }
  bool empty() const { return causes_.empty(); }

 private:
  void add(std::string_view reason, std::string message, const FieldPath& path);
  std::vector<Cause> causes_;
};

}  // namespace amdahl::local

#include "local/apiserver/core/content.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/json_load.hpp"
#include "operator/kube/yaml_bounded.hpp"

namespace amdahl::local {
namespace {

constexpr std::string_view kServed = "application/json";
constexpr std::string_view kRead = "application/json, application/yaml";
constexpr std::string_view kProtobuf = "application/vnd.kubernetes.protobuf";

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

std::string_view cut(std::string_view& rest, char at) {
  const std::size_t end = rest.find(at);
  const std::string_view part = rest.substr(0, end);
  rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  return trimmed(part);
}

// One of the clauses of an Accept header; none when we cannot answer in it.
std::optional<Accepted> understood(std::string_view clause) {
  const std::string type = media_type(cut(clause, ';'));
  if (type != kServed && type != "*/*" && type != "application/*") return std::nullopt;
  Accepted accepted;
  std::string_view as;
  std::string_view group;
  while (!clause.empty()) {
    const std::string_view parameter = cut(clause, ';');
    if (parameter.starts_with("as=")) as = parameter.substr(3);
    if (parameter.starts_with("g=")) group = parameter.substr(2);
    if (parameter.starts_with("v=")) accepted.meta_version = parameter.substr(2);
  }
  if (as.empty()) return accepted;
  if (group != "meta.k8s.io") return std::nullopt;
  if (accepted.meta_version != "v1" && accepted.meta_version != "v1beta1") return std::nullopt;
  if (as == "Table")
    accepted.form = ObjectForm::kTable;
  else if (as == "PartialObjectMetadata" || as == "PartialObjectMetadataList")
    accepted.form = ObjectForm::kMetadata;
  else
    return std::nullopt;
  return accepted;
}

// Builds the value, notes keys that come twice and stops at the depth that is allowed.
class StrictReader {
 public:
  explicit StrictReader(Body& body) : body_(body) {}

  bool null() { return put(nullptr); }
  bool boolean(bool value) { return put(value); }
  bool number_integer(Json::number_integer_t value) { return put(value); }
  bool number_unsigned(Json::number_unsigned_t value) { return put(value); }
  bool number_float(Json::number_float_t value, const std::string& /*text*/) { return put(value); }
  bool string(std::string& value) { return put(std::move(value)); }
  bool binary(Json::binary_t& /*value*/) { return false; }
  bool start_object(std::size_t /*size*/) { return enter(Json::object()); }
  bool start_array(std::size_t /*size*/) { return enter(Json::array()); }
  bool end_object() { return leave(); }
  bool end_array() { return leave(); }
  bool key(std::string& name) {
    Level& level = levels_.back();
    const auto [at, fresh] =
        level.value->get_ref<Json::object_t&>().try_emplace(std::move(name), nullptr);
    level.key = at->first;
    member_ = &at->second;
    if (!fresh && body_.duplicates.size() < kStrictErrorsMax)
      body_.duplicates.push_back(fmt::format("duplicate field \"{}\"", path()));
    return true;
  }
  template <class Exception>
  bool parse_error(std::size_t position, const std::string& /*token*/, const Exception& /*error*/) {
    complaint = fmt::format("invalid character near offset {}", position);
    return false;
  }
  std::string complaint = {};

 private:
  struct Level {
    Json* value = nullptr;      // stays where it is: its parents change only when it is complete
    std::string_view key = {};  // of an object: the member being read
  };
  Json& place(Json value) {
    if (levels_.empty()) return body_.value = std::move(value);
    Json& parent = *levels_.back().value;
    if (parent.is_object()) return *member_ = std::move(value);
    parent.push_back(std::move(value));
    return parent.back();
  }
  bool put(Json value) {
    place(std::move(value));
    return true;
  }
  bool enter(Json value) {
    if (levels_.size() == kBodyDepthMax) {
      complaint = "exceeded max depth";
      return false;
    }
    levels_.push_back({.value = &place(std::move(value))});
    return true;
  }
  bool leave() {
    levels_.pop_back();
    return true;
  }
  std::string path() const {
    std::string text;
    for (const Level& level : levels_) {
      if (level.value->is_array())
        text += fmt::format("[{}]", level.value->size() - 1);
      else
        text.append(text.empty() ? "" : ".").append(level.key);
    }
    return text;
  }
  Body& body_;
  std::vector<Level> levels_;
  Json* member_ = nullptr;  // where the value of the last key goes
};

}  // namespace

std::string media_type(std::string_view header) {
  std::string type(cut(header, ';'));
  for (char& c : type) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return type;
}

Outcome<Accepted> negotiate(std::string_view accept) {
  if (trimmed(accept).empty()) return Accepted{};
  while (!accept.empty())
    if (auto accepted = understood(cut(accept, ','))) return *accepted;
  return not_acceptable(kServed);
}

Outcome<BodyFormat> body_format(std::string_view content_type, bool protobuf) {
  const std::string type = media_type(content_type);
  if (type.empty() || type == "application/json" || type == "*/*") return BodyFormat::kJson;
  if (type == "application/yaml") return BodyFormat::kYaml;
  if (type != kProtobuf) return unsupported_media_type(fmt::format("{}, {}", kRead, kProtobuf));
  if (protobuf) return BodyFormat::kProtobuf;
  return unsupported_media_type(kRead);
}

Outcome<Body> parse_body(std::string_view bytes, BodyFormat format) {
  Body body;
  if (format == BodyFormat::kYaml) {
    auto node = kube::parse_yaml(bytes, "body");
    if (!node)
      return bad_request(fmt::format("error converting YAML to JSON: {}", node.error().context));
    body.value = kube::to_json(*node);
    return body;
  }
  if (bytes.empty()) return bad_request("unexpected end of JSON input");
  if (auto loaded = load_json(bytes)) {
    body.value = std::move(*loaded);
    return body;
  }
  StrictReader reader(body);
  if (!Json::sax_parse(bytes, &reader)) {
    return bad_request(reader.complaint.empty() ? "invalid JSON" : reader.complaint);
  }
  return body;
}

}  // namespace amdahl::local

#include "local/apiserver/core/decode.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "local/apiserver/core/metadata.hpp"
#include "local/apiserver/core/stored_object.hpp"
#include "local/apiserver/protobuf/body.hpp"

namespace amdahl::local {
namespace {

constexpr std::size_t kSummaryBytes = 30;
constexpr std::size_t kRepeatedBytesMax = 10'000;  // of a body that a refusal repeats

std::string summary(std::string_view body) {
  if (body.empty()) return "<empty>";
  const bool cut = body.size() > kSummaryBytes;
  const std::string_view seen = body.substr(0, kSummaryBytes);
  std::string text;
  if (body.front() == '{')
    text = seen;
  else
    for (const char c : seen) text += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return cut ? text + " ..." : text;
}

Status unrecognized(const Request& request, std::string_view why) {
  return bad_request(
      fmt::format("the object provided is unrecognized (must be of type {}): {} ({})",
                  request.info->kind, why, summary(request.call->body)));
}

Status cannot_be(const Request& request, const Json& object, std::string_view why) {
  return bad_request(fmt::format("{} in version \"{}\" cannot be handled as a {}: {}",
                                 text_at(object, "kind"), request.info->version, request.info->kind,
                                 why));
}

// A patch can build deeper than any body; what is kept is printed and compared recursively.
bool deeper_than(const Json& json, std::size_t limit) {
  if (!json.is_structured()) return false;
  if (limit == 0) return true;
  if (const auto* members = json.get_ptr<const Json::object_t*>())
    return std::ranges::any_of(
        *members, [&](const auto& member) { return deeper_than(member.second, limit - 1); });
  return std::ranges::any_of(json.get_ref<const Json::array_t&>(),
                             [&](const Json& one) { return deeper_than(one, limit - 1); });
}

// The package that Kubernetes keeps the kinds of a group in.
std::string package_of(std::string_view group) {
  if (group.empty() || group == "events.k8s.io") return "core";
  return std::string(group.substr(0, group.find('.')));
}

Status wrong_kind(const ServerState& state, const Request& request, const Json& object) {
  const ResourceInfo& info = *request.info;
  const std::string kind = text_at(object, "kind");
  const std::string api_version = text_at(object, "apiVersion");
  const ResourceInfo* other = state.rules.find_kind(api_version, kind);
  if (other == nullptr || other->custom)
    return bad_request(fmt::format(
        "{} in version \"{}\" cannot be handled as a {}: no kind \"{}\" is registered for version "
        "\"{}\" in scheme \"pkg/runtime/scheme.go:110\"",
        kind, api_version.substr(api_version.find('/') + 1), info.kind, kind, api_version));
  return cannot_be(request, object,
                   fmt::format("converting ({}.{}) to ({}.{}): unknown conversion", other->version,
                               kind, package_of(info.group), info.kind));
}

// A built-in kind may leave out what the path says already; a custom one may not.
Outcome<Done> check_kind(const ServerState& state, const Request& request, Json& object) {
  const ResourceInfo& info = *request.info;
  for (const char* key : {"apiVersion", "kind"}) {
    if (object.contains(key) && object[key].is_null()) object.erase(key);
    if (object.contains(key) && !object[key].is_string())
      return unrecognized(request, fmt::format("couldn't get version/kind; json parse error: "
                                               "{} is not a string",
                                               key));
  }
  std::string kind = text_at(object, "kind");
  const std::string api_version = text_at(object, "apiVersion");
  if (kind.empty() && info.custom)
    return unrecognized(
        request, fmt::format("Object 'Kind' is missing in '{}'",
                             std::string_view(request.call->body).substr(0, kRepeatedBytesMax)));
  if (kind.empty()) object["kind"] = kind = info.kind;
  if (api_version.empty() && !info.custom) object["apiVersion"] = info.api_version();
  const bool same_version = text_at(object, "apiVersion") == info.api_version();
  if (same_version && kind == info.kind) return Done{};
  if (!info.custom) return wrong_kind(state, request, object);
  if (same_version) return Done{};  // its kind is judged with the rest of it: refuse()
  return bad_request(
      fmt::format("the API version in the data ({}) does not match the expected API version ({})",
                  api_version, info.api_version()));
}

Outcome<Done> check_strict(Request& request, const Json& object, std::vector<std::string> strict) {
  if (strict.empty() || request.query.field_validation == "Ignore") return Done{};
  if (request.query.field_validation == "Strict")
    return cannot_be(request, object,
                     fmt::format("strict decoding error: {}", fmt::join(strict, ", ")));
  for (std::string& one : strict)
    if (request.warnings.size() < kStrictErrorsMax) request.warnings.push_back(std::move(one));
  return Done{};
}

Outcome<Body> read_protobuf(const Request& request, bool deletes) {
  const std::string api_version = request.info->api_version();
  const std::string_view kind = deletes ? "DeleteOptions" : std::string_view(request.info->kind);
  auto read = read_protobuf_body(request.call->body, {.api_version = api_version, .kind = kind});
  if (read) return Body{.value = std::move(*read)};
  return unrecognized(request, read.error().context);
}

}  // namespace

Outcome<Body> read_body(const ServerState& state, const Request& request) {
  if (request.call->body.size() > state.options.body_bytes_max)
    return body_too_large(state.options.body_bytes_max);
  // The options of a delete and a Scale are built in, whatever they are for.
  const bool deletes = request.call->method == "DELETE";
  const bool builtin = !request.info->custom || deletes || request.route.subresource == "scale";
  OUTCOME_TRY(const BodyFormat format, body_format(request.call->content_type, builtin));
  if (format == BodyFormat::kProtobuf) return read_protobuf(request, deletes);
  auto body = parse_body(request.call->body, format);
  if (!body)
    return unrecognized(request, fmt::format("couldn't get version/kind; json parse error: {}",
                                             body.error().message));
  return body;
}

Outcome<Json> read_object(const ServerState& state, Request& request) {
  OUTCOME_TRY(Body body, read_body(state, request));
  return check_object(state, request, std::move(body.value), std::move(body.duplicates));
}

Outcome<Json> check_object(const ServerState& state, Request& request, Json object,
                           std::vector<std::string> strict) {
  if (object.is_null()) object = Json::object();
  if (!object.is_object())
    return unrecognized(request, "couldn't get version/kind; json parse error: not an object");
  if (deeper_than(object, kBodyDepthMax)) return unrecognized(request, "exceeded max depth");
  OUTCOME_CHECK(check_kind(state, request, object));
  if (auto checked = check_metadata(object); !checked)
    return cannot_be(request, object, checked.error().message);
  OUTCOME_TRY(std::vector<std::string> unknown, state.rules.decode(*request.info, object));
  for (std::string& one : unknown) strict.push_back(std::move(one));
  OUTCOME_CHECK(check_strict(request, object, std::move(strict)));
  if (auto checked = check_metadata(object); !checked)
    return cannot_be(request, object, checked.error().message);
  state.rules.apply_defaults(*request.info, object);
  return object;
}

Outcome<Done> match_path(const Request& request, Json& object) {
  Json& meta = metadata_of(object);
  const std::string name = text_at(meta, "name");
  const std::string ns = text_at(meta, "namespace");
  const bool named = !request.route.name.empty();
  if (request.info->namespaced && !ns.empty() && ns != request.route.ns)
    return bad_request(
        "the namespace of the provided object does not match the namespace sent on the request");
  if (named && name.empty())
    return bad_request(
        fmt::format("the name of the object ({} based on URL) was undeterminable: name must be "
                    "provided",
                    request.route.name));
  if (named && name != request.route.name)
    return bad_request(
        fmt::format("the name of the object ({}) does not match the name on the URL ({})", name,
                    request.route.name));
  if (request.info->namespaced)
    meta["namespace"] = request.route.ns;
  else
    meta.erase("namespace");
  return Done{};
}

}  // namespace amdahl::local

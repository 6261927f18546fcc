#include "local/apiserver/core/patching.hpp"

#include <fmt/format.h>

#include "local/apiserver/core/decode.hpp"
#include "local/apiserver/core/metadata.hpp"
#include "local/apiserver/core/render.hpp"
#include "local/apiserver/core/write.hpp"

namespace amdahl::local {
namespace {

constexpr std::string_view kJsonPatch = "application/json-patch+json";
constexpr std::string_view kMergePatch = "application/merge-patch+json";
constexpr std::string_view kStrategicPatch = "application/strategic-merge-patch+json";
constexpr std::string_view kApplyPatch = "application/apply-patch+yaml";
constexpr std::size_t kShownBytesMax = 10'000;  // of a patch that a refusal repeats

// The config of an apply has to say what it is.
Outcome<Done> check_config(const Request& request, const Json& config) {
  const std::string version = text_at(config, "apiVersion");
  const std::string kind = text_at(config, "kind");
  const ResourceInfo& info = *request.info;
  if (!config.is_object() || (version == info.api_version() && kind == info.kind)) return Done{};
  return bad_request(fmt::format("invalid object type: {}{}, Kind={}",
                                 version.find('/') == std::string::npos ? "/" : "", version, kind));
}

// A patch that takes the version away is not bound to one.
void keep_version(Json& object, const StoredObject& old) {
  Json& meta = metadata_of(object);
  if (text_at(meta, "resourceVersion").empty())
    meta["resourceVersion"] = std::to_string(old.version);
}

std::string shown_place(const Json& object) {
  const auto meta = object.find("metadata");
  if (meta == object.end()) return "/";
  return text_at(*meta, "namespace") + "/" + text_at(*meta, "name");
}

// The schema lets some values through that the kind cannot hold: times, quantities.
Status not_convertible(const ResourceInfo& info, std::string_view place, const Status& why) {
  if (info.custom || why.code != 400) return why;
  const std::string head = fmt::format(
      "{} in version \"{}\" cannot be handled as a {}: ", info.kind, info.version, info.kind);
  if (!why.message.starts_with(head)) return why;
  const std::string kind =
      fmt::format("{}{}, Kind={}", info.group.empty() ? "/" : "", info.api_version(), info.kind);
  return unknown_failure(
      fmt::format("failed to convert new object ({}; {}) to proper version: unable to convert "
                  "unstructured object to {}: {}",
                  place, kind, kind, std::string_view(why.message).substr(head.size())));
}

// A patch whose result the kind cannot hold is refused as a wrong value of the patch. What is shown
// of it is what was sent: the rest of the object may not be for the sender's eyes.
Status wrong_patch(const Request& request, const Status& why) {
  if (why.code != 400) return why;
  std::string_view words = why.message;
  for (const std::string_view head : {" cannot be handled as a ", " (must be of type "}) {
    const std::size_t at = words.find(head);
    const std::size_t end = at == std::string_view::npos ? at : words.find(": ", at);
    if (end == std::string_view::npos) continue;
    words.remove_prefix(end + 2);
    break;
  }
  const std::string shown = Json(request.call->body.substr(0, kShownBytesMax))
                                .dump(-1, ' ', false, Json::error_handler_t::replace);
  return invalid({}, "",
                 {{.reason = std::string(kCauseInvalid),
                   .message = fmt::format("Invalid value: {}: {}", shown, words),
                   .field = "patch"}});
}

Outcome<Reply> apply_patch(ServerState& state, Request& request, const ObjectPtr& old,
                           const Json& config) {
  OUTCOME_CHECK(check_config(request, config));
  const Json live = old ? in_version(state.rules, *request.info, parsed(*old)) : Json();
  const FieldEdit edit{.manager = request.query.field_manager,
                       .subresource = request.route.subresource,
                       .force = request.query.force.value_or(false),
                       .now = state.now};
  OUTCOME_TRY(Json merged, state.rules.apply(*request.info, old ? &live : nullptr, config, edit));
  const std::string shown = shown_place(merged);
  // The configuration fits its kind; what else is wrong was there before and is not this writer's.
  std::vector<std::string> told = std::move(request.warnings);
  auto checked = check_object(state, request, std::move(merged), {});
  if (!checked) return not_convertible(*request.info, shown, checked.error());
  Json object = std::move(*checked);
  request.warnings = std::move(told);
  OUTCOME_CHECK(match_path(request, object));
  if (!old) {
    OUTCOME_TRY(const Written made, store_new(state, request, std::move(object)));
    return object_reply(state, request, 201, *made.object);
  }
  keep_version(object, *old);
  OUTCOME_TRY(const Written written, store_update(state, request,
                                                  {.old = old,
                                                   .live = &live,
                                                   .subresource = request.route.subresource,
                                                   .tracked = false,
                                                   .from_patch = true},
                                                  std::move(object)));
  return object_reply(state, request, 200, *written.object);
}

}  // namespace

Outcome<PatchType> patch_type(const ResourceInfo& info, std::string_view content_type) {
  const std::string type = media_type(content_type);
  if (type == kJsonPatch) return PatchType::kJson;
  if (type == kMergePatch) return PatchType::kMerge;
  if (type == kStrategicPatch && !info.custom) return PatchType::kStrategic;
  if (type == kApplyPatch) return PatchType::kApply;
  if (info.custom)
    return unsupported_media_type(fmt::format("{}, {}, {}", kJsonPatch, kMergePatch, kApplyPatch));
  return Status{.code = 415,
                .reason = "UnsupportedMediaType",
                .message = "415: Unsupported Media Type",
                .has_details = true};
}

Outcome<Body> read_patch(const ServerState& state, const Request& request, PatchType type) {
  const std::string& bytes = request.call->body;
  if (bytes.size() > state.options.body_bytes_max)
    return body_too_large(state.options.body_bytes_max);
  const bool yaml = type == PatchType::kApply && !bytes.starts_with('{');
  auto body = parse_body(bytes, yaml ? BodyFormat::kYaml : BodyFormat::kJson);
  if (!body)
    return bad_request(type == PatchType::kApply
                           ? fmt::format("error decoding YAML: {}", body.error().message)
                           : fmt::format("error decoding patch: {}", body.error().message));
  return body;
}

Outcome<Done> check_patch_options(const Query& query, PatchType type) {
  std::vector<Cause> causes;
  if (type == PatchType::kApply && query.field_manager.empty())
    causes.push_back({.reason = std::string(kCauseRequired),
                      .message = "Required value: is required for apply patch",
                      .field = "fieldManager"});
  if (type != PatchType::kApply && query.force)
    causes.push_back({.reason = std::string(kCauseForbidden),
                      .message = "Forbidden: may not be specified for non-apply patch",
                      .field = "force"});
  if (!causes.empty())
    return invalid({.group = "meta.k8s.io", .name = "PatchOptions"}, "", std::move(causes));
  return check_write_options(query, "PatchOptions");
}

Outcome<Reply> patch(ServerState& state, Request& request) {
  auto known = patch_type(*request.info, request.call->content_type);
  if (!known && !request.info->custom) request.warnings.clear();  // refused before it has a kind
  OUTCOME_TRY(const PatchType type, std::move(known));
  OUTCOME_CHECK(check_patch_options(request.query, type));
  OUTCOME_TRY(Body body, read_patch(state, request, type));
  const ObjectPtr old = state.table.get(request.resource, request.key());
  const bool creates = type == PatchType::kApply && request.route.subresource.empty();
  if (!old && !creates) return not_found(request.info->resource_name(), request.route.name);
  if (type == PatchType::kApply) return apply_patch(state, request, old, body.value);
  const Json live = in_version(state.rules, *request.info, parsed(*old));
  OUTCOME_TRY(Json patched, state.rules.patch(*request.info, type, live, body.value));
  if (type == PatchType::kJson)
    for (std::string& one : body.duplicates) one = "json patch " + one;
  auto checked = check_object(state, request, std::move(patched), std::move(body.duplicates));
  if (!checked) return wrong_patch(request, checked.error());
  Json object = std::move(*checked);
  OUTCOME_CHECK(match_path(request, object));
  keep_version(object, *old);
  OUTCOME_TRY(
      const Written written,
      store_update(
          state, request,
          {.old = old, .live = &live, .subresource = request.route.subresource, .from_patch = true},
          std::move(object)));
  return object_reply(state, request, 200, *written.object);
}

}  // namespace amdahl::local

#include "local/apiserver/core/subresource.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "local/apiserver/core/decode.hpp"
#include "local/apiserver/core/deletion.hpp"
#include "local/apiserver/core/metadata.hpp"
#include "local/apiserver/core/render.hpp"
#include "local/apiserver/core/write.hpp"

namespace amdahl::local {
namespace {

Outcome<ObjectPtr> existing(const ServerState& state, const Request& request) {
  ObjectPtr found = state.table.get(request.resource, request.key());
  if (!found) return not_found(request.info->resource_name(), request.route.name);
  return found;
}

Reply success(const ServerState& state, const Request& request) {
  Json body = to_json(Status{.code = 201});
  body["code"] = 201;
  Reply reply = json_reply(request, 201, body);
  reply.wait_version = state.table.version();
  return reply;
}

Outcome<Json> read_plain_object(const ServerState& state, const Request& request) {
  OUTCOME_TRY(Body body, read_body(state, request));
  if (!body.value.is_object()) return bad_request("the body is not an object");
  OUTCOME_CHECK(check_metadata(body.value));
  return std::move(body.value);
}

// The condition with this type, changed or added.
void set_condition(Json& object, Json condition) {
  Json& status = object["status"];
  if (!status.is_object()) status = Json::object();
  Json& all = status["conditions"];
  if (!all.is_array()) all = Json::array();
  for (Json& one : all) {
    if (text_at(one, "type") != text_at(condition, "type")) continue;
    one = std::move(condition);
    return;
  }
  all.push_back(std::move(condition));
}

// "/spec/replicas": member names only, as a CRD's paths are. Null when there is nothing.
const Json* at_pointer(const Json& object, std::string_view pointer) {
  const Json* at = pointer.empty() ? nullptr : &object;
  while (at != nullptr && !pointer.empty()) {
    pointer.remove_prefix(1);
    const std::string member(pointer.substr(0, pointer.find('/')));
    pointer.remove_prefix(member.size());
    const auto found = at->is_object() ? at->find(member) : at->end();
    at = found == at->end() ? nullptr : &*found;
  }
  return at;
}

bool evicted_before(const Json& pod) {
  const Json* all = at_pointer(pod, "/status/conditions");
  return all != nullptr && std::ranges::any_of(*all, [](const Json& one) {
           return text_at(one, "type") == "DisruptionTarget" && text_at(one, "status") == "True";
         });
}

void merge_texts(Json& meta, const Json& from, const char* key) {
  const auto found = from.find(key);
  if (found == from.end() || !found->is_object()) return;
  for (const auto& [name, value] : found->items()) meta[key][name] = value;
}

Outcome<Done> check_bindable(const Json& pod, const std::string& name) {
  const GroupName binding{.name = "pods/binding"};
  const auto spec = pod.find("spec");
  if (metadata_of(pod).contains("deletionTimestamp"))
    return conflict(binding, name,
                    fmt::format("pod {} is being deleted, cannot be assigned to a host", name));
  if (spec == pod.end() || !spec->is_object()) return Done{};
  if (const std::string node = text_at(*spec, "nodeName"); !node.empty())
    return conflict(binding, name,
                    fmt::format("pod {} is already assigned to node \"{}\"", name, node));
  if (const auto gates = spec->find("schedulingGates"); gates != spec->end() && !gates->empty())
    return conflict(binding, name, fmt::format("pod {} has non-empty .spec.schedulingGates", name));
  return Done{};
}

Outcome<std::string> binding_target(const Json& binding) {
  const auto target = binding.find("target");
  const std::string node = target == binding.end() ? "" : text_at(*target, "name");
  const std::string kind = target == binding.end() ? "" : text_at(*target, "kind");
  if (!kind.empty() && kind != "Node")
    return unknown_failure(fmt::format(
        "target.kind: Unsupported value: \"{}\": supported values: \"Node\", \"<empty>\"", kind));
  if (node.empty()) return unknown_failure("target.name: Required value");
  return node;
}

// False: something that is no object is in the way.
bool set_at_pointer(Json& object, std::string_view pointer, std::int64_t value) {
  Json* at = &object;
  while (!pointer.empty()) {
    pointer.remove_prefix(1);
    const std::string member(pointer.substr(0, pointer.find('/')));
    pointer.remove_prefix(member.size());
    if (at->is_null()) *at = Json::object();
    if (!at->is_object()) return false;
    at = &(*at)[member];
  }
  *at = value;
  return true;
}

std::string selector_text(const Json* selector) {
  if (selector == nullptr) return {};
  if (selector->is_string()) return selector->get<std::string>();
  if (!selector->is_object()) return {};
  std::string text;
  const auto labels = selector->find("matchLabels");
  if (labels == selector->end() || !labels->is_object()) return {};
  for (const auto& [key, value] : labels->items())
    if (value.is_string())
      text += fmt::format("{}{}={}", text.empty() ? "" : ",", key, value.get<std::string>());
  return text;
}

Status no_replicas(std::string path) {
  std::ranges::replace(path, '/', '.');
  return internal_error(fmt::format("the spec replicas field \"{}\" does not exist", path));
}

// A scale passes the ownership of its replicas on; what nobody owns stays without an owner.
bool somebody_owns(const Json& object, const std::string& pointer) {
  std::string fields;
  for (const char c : pointer) fields += c == '/' ? std::string("/f:") : std::string(1, c);
  const auto entries = metadata_of(object).find("managedFields");
  if (entries == metadata_of(object).end()) return false;
  return std::ranges::any_of(*entries, [&](const Json& entry) {
    const auto owned = entry.find("fieldsV1");
    return owned != entry.end() && at_pointer(*owned, fields) != nullptr;
  });
}

Json scale_of(const KindRules::ScalePaths& paths, const Json& object) {
  const Json& meta = metadata_of(object);
  Json scale = {{"kind", "Scale"}, {"apiVersion", "autoscaling/v1"}};
  scale["metadata"] = Json::object();
  for (const char* key : {"name", "namespace", "uid", "resourceVersion", "creationTimestamp"})
    if (meta.contains(key)) scale["metadata"][key] = meta[key];
  scale["spec"] = Json::object();
  scale["status"] = {{"replicas", 0}};
  if (const Json* value = at_pointer(object, paths.spec_replicas);
      value != nullptr && value->is_number_integer() && *value != 0)
    scale["spec"]["replicas"] = *value;
  if (const Json* value = at_pointer(object, paths.status_replicas);
      value != nullptr && value->is_number_integer())
    scale["status"]["replicas"] = *value;
  if (std::string text = selector_text(at_pointer(object, paths.selector)); !text.empty())
    scale["status"]["selector"] = std::move(text);
  return scale;
}

Outcome<Json> wanted_scale(const ServerState& state, const Request& request, const Json& now) {
  if (request.call->method != "PATCH") return read_plain_object(state, request);
  OUTCOME_TRY(const PatchType type, [&]() -> Outcome<PatchType> {
    const std::string content = media_type(request.call->content_type);
    if (content == "application/json-patch+json") return PatchType::kJson;
    if (content == "application/merge-patch+json") return PatchType::kMerge;
    if (content == "application/strategic-merge-patch+json" && !request.info->custom)
      return PatchType::kMerge;  // a Scale has no lists
    return unsupported_media_type("application/json-patch+json, application/merge-patch+json");
  }());
  if (request.call->body.size() > state.options.body_bytes_max)
    return body_too_large(state.options.body_bytes_max);
  OUTCOME_TRY(const Body body, parse_body(request.call->body, BodyFormat::kJson));
  OUTCOME_TRY(Json patched, state.rules.patch(*request.info, type, now, body.value));
  OUTCOME_CHECK(check_metadata(patched));
  return patched;
}

}  // namespace

Outcome<Reply> get_scale(ServerState& state, Request& request) {
  OUTCOME_TRY(const ObjectPtr found, existing(state, request));
  const auto paths = state.rules.scale_paths(*request.info);
  if (!paths) return not_found(request.info->resource_name(), request.route.name);
  const Json object = in_version(state.rules, *request.info, parsed(*found));
  if (request.info->custom && at_pointer(object, paths->spec_replicas) == nullptr)
    return no_replicas(paths->spec_replicas);
  Reply reply = json_reply(request, 200, scale_of(*paths, object));
  reply.wait_version = found->version;
  return reply;
}

Outcome<Reply> change_scale(ServerState& state, Request& request) {
  OUTCOME_CHECK(check_write_options(request.query, "UpdateOptions"));
  OUTCOME_TRY(const ObjectPtr old, existing(state, request));
  const auto paths = state.rules.scale_paths(*request.info);
  if (!paths) return not_found(request.info->resource_name(), request.route.name);
  Json object = in_version(state.rules, *request.info, parsed(*old));
  OUTCOME_TRY(const Json scale, wanted_scale(state, request, scale_of(*paths, object)));
  const auto spec = scale.find("spec");
  const auto replicas = spec == scale.end() ? std::nullopt : number_at(*spec, "replicas");
  if (replicas.value_or(0) < 0)
    return invalid({.group = "autoscaling", .name = "Scale"}, old->name(),
                   {{.reason = std::string(kCauseInvalid),
                     .message = fmt::format("Invalid value: {}: must be greater than or equal to 0",
                                            *replicas),
                     .field = "spec.replicas"}});
  if (!set_at_pointer(object, paths->spec_replicas, replicas.value_or(0)))
    return unknown_failure(fmt::format("the object has no place for {}", paths->spec_replicas));
  const std::string version = text_at(metadata_of(scale), "resourceVersion");
  if (!version.empty()) metadata_of(object)["resourceVersion"] = version;
  const bool owned = somebody_owns(object, paths->spec_replicas);
  OUTCOME_TRY(const Written written,
              store_update(state, request, {.old = old, .subresource = "scale", .tracked = owned},
                           std::move(object)));
  Reply reply =
      json_reply(request, 200,
                 scale_of(*paths, in_version(state.rules, *request.info, parsed(*written.object))));
  reply.wait_version = state.table.version();
  return reply;
}

Outcome<Reply> bind_pod(ServerState& state, Request& request) {
  OUTCOME_TRY(const Json binding, read_plain_object(state, request));
  const std::string& name = request.route.name;
  if (text_at(metadata_of(binding), "name") != name)
    return bad_request("name in URL does not match name in Binding object");
  OUTCOME_TRY(const std::string node, binding_target(binding));
  OUTCOME_TRY(const ObjectPtr found, existing(state, request));
  const std::string uid = text_at(metadata_of(binding), "uid");
  if (!uid.empty() && uid != found->uid)
    return conflict({.name = "pods"}, name,
                    fmt::format("Precondition failed: UID in precondition: {}, UID in object "
                                "meta: {}",
                                uid, found->uid));
  Json pod = parsed(*found);
  OUTCOME_CHECK(check_bindable(pod, name));
  if (request.query.dry()) return success(state, request);
  if (!pod.contains("spec") || !pod["spec"].is_object()) pod["spec"] = Json::object();
  pod["spec"]["nodeName"] = node;
  merge_texts(metadata_of(pod), metadata_of(binding), "annotations");
  merge_texts(metadata_of(pod), metadata_of(binding), "labels");
  set_condition(pod, {{"type", "PodScheduled"},
                      {"status", "True"},
                      {"lastProbeTime", nullptr},
                      {"lastTransitionTime", format_time(state.now)}});
  put_object(state, *request.info, std::move(pod));
  return success(state, request);
}

Outcome<Reply> evict_pod(ServerState& state, Request& request) {
  OUTCOME_TRY(const Json eviction, read_plain_object(state, request));
  if (text_at(metadata_of(eviction), "name") != request.route.name)
    return bad_request("name in URL does not match name in Eviction object");
  DeleteOptions options;
  if (const auto inner = eviction.find("deleteOptions");
      inner != eviction.end() && !inner->is_null()) {
    OUTCOME_TRY(options, delete_options_from(*inner));
  }
  options.dry = options.dry || request.query.dry();
  OUTCOME_TRY(ObjectPtr found, existing(state, request));
  // Both conditions hold before anything is written, so that a refusal leaves no trace.
  OUTCOME_CHECK(delete_object(state, *request.info, found,
                              {.uid = options.uid, .version = options.version, .dry = true}));
  if (Json pod = parsed(*found); !options.dry && !evicted_before(pod)) {
    set_condition(pod, {{"type", "DisruptionTarget"},
                        {"status", "True"},
                        {"reason", "EvictionByEvictionAPI"},
                        {"message", "Eviction API: evicting"},
                        {"lastProbeTime", nullptr},
                        {"lastTransitionTime", format_time(state.now)}});
    found = put_object(state, *request.info, std::move(pod));
    options.version.reset();
  }
  OUTCOME_CHECK(delete_object(state, *request.info, found, options));
  return success(state, request);
}

Outcome<Reply> review_subresource(ServerState& state, Request& request) {
  OUTCOME_TRY(const ObjectPtr found, existing(state, request));
  OUTCOME_TRY(const Json object, read_plain_object(state, request));
  const Json parent = parsed(*found);
  OUTCOME_TRY(const Json answer,
              state.rules.answer_review({.info = request.info,
                                         .subresource = request.route.subresource,
                                         .parent = &parent,
                                         .object = &object,
                                         .user = &request.call->user,
                                         .now = state.now}));
  return json_reply(request, 201, answer);
}

}  // namespace amdahl::local

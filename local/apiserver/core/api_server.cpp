#include "local/apiserver/core/api_server.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "local/apiserver/core/deletion.hpp"
#include "local/apiserver/core/garbage.hpp"
#include "local/apiserver/core/logs.hpp"
#include "local/apiserver/core/metadata.hpp"
#include "local/apiserver/core/patching.hpp"
#include "local/apiserver/core/read.hpp"
#include "local/apiserver/core/render.hpp"
#include "local/apiserver/core/subresource.hpp"
#include "local/apiserver/core/watch.hpp"
#include "local/apiserver/core/write.hpp"

namespace amdahl::local {
namespace {

Reply page_not_found() {
  return text_reply(404, "404 page not found\n");
}

Status resource_not_found() {
  return {.code = 404,
          .reason = "NotFound",
          .message = "the server could not find the requested resource",
          .has_details = true};
}

Status not_supported(const Request& request) {
  if (request.info->custom)
    return method_not_supported(request.info->resource_name(), request.call->method);
  return {.code = 405,
          .reason = "MethodNotAllowed",
          .message = "the server does not allow this method on the requested resource",
          .has_details = true};
}

// Below a group and version that are served, an unknown resource is told from an unknown page.
Outcome<Reply> unknown_resource(const KindRules& rules, const Route& route) {
  const std::string root = route.group.empty()
                               ? "/api/" + route.version
                               : fmt::format("/apis/{}/{}", route.group, route.version);
  const bool builtin =
      route.group.find('.') == std::string::npos || route.group.ends_with(".k8s.io");
  const bool served = route.group.empty() || rules.document(root, "application/json");
  if (builtin && served) return resource_not_found();
  return page_not_found();
}

Outcome<Reply> on_collection(ServerState& state, Request& request) {
  const std::string& method = request.call->method;
  const bool anywhere = request.info->namespaced && request.route.ns.empty();
  if (method == "POST" && !anywhere) return create(state, request);
  if (!request.info->stored) return not_supported(request);
  if (method == "GET")
    return request.query.watch || request.route.watch ? watch(state, request)
                                                      : list(state, request);
  if (method == "DELETE" && !anywhere) return remove_collection(state, request);
  return not_supported(request);
}

Outcome<Reply> on_object(ServerState& state, Request& request) {
  const std::string& method = request.call->method;
  if (!request.info->stored) return not_supported(request);
  if (method == "GET")
    return request.query.watch || request.route.watch ? watch(state, request) : get(state, request);
  if (method == "PUT") return update(state, request);
  if (method == "PATCH") return patch(state, request);
  if (method == "DELETE") return remove(state, request);
  return not_supported(request);
}

Outcome<Reply> on_part(ServerState& state, Request& request) {
  const std::string& method = request.call->method;
  if (method == "GET") return get(state, request);
  if (method == "PUT") return update(state, request);
  if (method == "PATCH") return patch(state, request);
  return not_supported(request);
}

Outcome<Reply> on_scale(ServerState& state, Request& request) {
  const std::string& method = request.call->method;
  if (method == "GET") return get_scale(state, request);
  if (method == "PUT" || method == "PATCH") return change_scale(state, request);
  return not_supported(request);
}

Outcome<Reply> on_subresource(ServerState& state, Request& request) {
  const std::string& part = request.route.subresource;
  const ResourceInfo& info = *request.info;
  const bool posts = request.call->method == "POST";
  const bool pods = info.group.empty() && info.plural == "pods";
  if (part == "status" && info.has_status) return on_part(state, request);
  if (part == "scale" && info.has_scale) return on_scale(state, request);
  if (part == "finalize" && info.plural == "namespaces" && request.call->method == "PUT")
    return update(state, request);
  if (part == "binding" && pods && posts) return bind_pod(state, request);
  if (part == "eviction" && pods && posts) return evict_pod(state, request);
  if (part == "log" && pods) {
    if (request.call->method != "GET") return not_supported(request);
    return read_log(state, request);
  }
  if (state.rules.reviews(info, part)) {
    if (!posts) return not_supported(request);
    return review_subresource(state, request);
  }
  if (info.custom) return not_found(info.resource_name(), request.route.name);
  return resource_not_found();
}

Outcome<Reply> on_document(const KindRules& rules, const Call& call, const Route& route) {
  if (call.method != "GET" && call.method != "HEAD")
    return Status{.code = 405,
                  .reason = "MethodNotAllowed",
                  .message = "the server does not allow this method on the requested resource"};
  auto document = rules.document(route.path, call.accept);
  if (!document) return page_not_found();
  Reply reply{.content_type = std::move(document->content_type)};
  reply.body = std::move(document->body);
  return reply;
}

// When it was written last is not kept; when it was made is the best guess.
void expire_restored(ServerState& state, const ResourceInfo& info, ResourceId resource,
                     const ObjectPtr& object) {
  const auto made = parse_time(text_at(metadata_of(parsed(*object)), "creationTimestamp"));
  state.expiring.emplace((made ? *made : WallTime{}) + info.ttl,
                         Expiring{{resource, object->key}, object->version});
}

}  // namespace

ApiServer::ApiServer(KindRules& rules, Rng rng, Options options)
    : state_{
          .rules = rules, .rng = rng, .options = options, .table = ObjectTable(options.history)} {}

Reply ApiServer::handle(const Call& call, WallTime now) {
  state_.now = std::max(state_.now, now);
  auto answered = answer(call);
  // A refusal tells about the newest state too.
  if (answered) {
    Reply reply = std::move(*answered);
    if (reply.status >= 400) reply.wait_version = state_.table.version();
    return reply;
  }
  Reply reply = status_reply(answered.error());
  reply.wait_version = state_.table.version();
  return reply;
}

bool ApiServer::tick(WallTime now) {
  state_.now = std::max(state_.now, now);
  return sweep(state_);
}

Outcome<Reply> ApiServer::answer(const Call& call) {
  OUTCOME_TRY(Target target, parse_target(call.target));
  switch (target.route.kind) {
    case RouteKind::kUnknown:
      return page_not_found();
    case RouteKind::kHealth:
      return text_reply(200, "ok");
    case RouteKind::kMetrics:
      return metrics();
    case RouteKind::kDocument:
      return on_document(state_.rules, call, target.route);
    case RouteKind::kResource:
      break;
  }
  Request request{.call = &call, .route = std::move(target.route)};
  const Route& route = request.route;
  request.info = state_.rules.find(route.group, route.version, route.plural);
  if (request.info == nullptr) return unknown_resource(state_.rules, route);
  if (!request.info->deprecated.empty()) request.warnings.push_back(request.info->deprecated);
  const auto read_and_answer = [&]() -> Outcome<Reply> {
    OUTCOME_TRY(request.accepted, negotiate(call.accept));
    OUTCOME_TRY(request.query, parse_query_options(target.parameters));
    return answer_resource(request);
  };
  auto answered = read_and_answer();
  Reply reply = answered ? std::move(*answered) : status_reply(answered.error());
  // A method that the place does not have never got as far as the kind.
  if (reply.status != 405) add_warnings(request, reply);
  return reply;
}

Outcome<Reply> ApiServer::answer_resource(Request& request) {
  const Route& route = request.route;
  const bool named_nowhere = request.info->namespaced && route.ns.empty() && !route.name.empty();
  if (named_nowhere || (!request.info->namespaced && !route.ns.empty())) return page_not_found();
  request.resource = state_.table.resource(request.info->storage);
  if (route.name.empty()) return on_collection(state_, request);
  if (route.subresource.empty()) return on_object(state_, request);
  return on_subresource(state_, request);
}

Result<void> ApiServer::load(std::vector<Restored> objects, std::uint64_t last_version) {
  std::uint64_t newest = last_version;
  // Kinds first: they say which fields of the others can be selected by.
  for (const bool kinds : {true, false}) {
    for (Restored& one : objects) {
      const ResourceInfo* info = state_.rules.find_storage(one.storage);
      if ((info != nullptr && info->observed) != kinds) continue;
      TRY(const ObjectPtr object, restore(state_.rules, one));
      newest = std::max(newest, object->version);
      const ResourceId resource = state_.table.resource(one.storage);
      state_.table.restore(resource, object);
      if (info != nullptr && info->ttl.count() > 0)
        expire_restored(state_, *info, resource, object);
      if (!kinds) continue;
      const Json json = parsed(*object);
      state_.rules.changed(*info, object->name(), &json);
    }
  }
  state_.table.restored(newest);
  return {};
}

Reply ApiServer::metrics() const {
  std::string text = "# TYPE apiserver_storage_objects gauge\n";
  for (ResourceId id = 0; id < state_.table.resources(); ++id)
    text += fmt::format("apiserver_storage_objects{{resource=\"{}\"}} {}\n",
                        state_.table.storage(id), state_.table.objects(id).size());
  text += fmt::format("# TYPE amdahl_local_version counter\namdahl_local_version {}\n",
                      state_.table.version());
  text += fmt::format("# TYPE amdahl_local_history_bytes gauge\namdahl_local_history_bytes {}\n",
                      state_.table.history().bytes());
  Reply reply{.content_type = "text/plain; version=0.0.4"};
  reply.body = std::move(text);
  return reply;
}

}  // namespace amdahl::local

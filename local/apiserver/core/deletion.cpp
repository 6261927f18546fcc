#include "local/apiserver/core/deletion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "local/apiserver/core/metadata.hpp"
#include "local/apiserver/core/read.hpp"
#include "local/apiserver/core/render.hpp"
#include "local/apiserver/core/write.hpp"

namespace amdahl::local {
namespace {

using std::chrono::seconds;

constexpr std::size_t kCollectionMax = 100'000;
constexpr std::int64_t kGraceMax = std::int64_t{1} << 31;

bool is_namespace(const ResourceInfo& info) {
  return info.group.empty() && info.plural == "namespaces";
}

Outcome<Done> check_preconditions(const ServerState& state, const ResourceInfo& info,
                                  const StoredObject& object, const DeleteOptions& options) {
  const GroupName kind = stored_kind(state, info);
  if (options.uid && *options.uid != object.uid)
    return conflict(kind, object.name(),
                    fmt::format("the UID in the precondition ({}) does not match the UID in record "
                                "({}). The object might have been deleted and then recreated",
                                *options.uid, object.uid));
  if (options.version && *options.version != std::to_string(object.version))
    return conflict(kind, object.name(),
                    fmt::format("the ResourceVersion in the precondition ({}) does not match the "
                                "ResourceVersion in record ({}). The object might have been "
                                "modified",
                                *options.version, object.version));
  return Done{};
}

enum class Grace : std::uint8_t { kNone, kPending, kGiven };

std::int64_t pod_grace(const Json& pod, const DeleteOptions& options) {
  const auto spec = pod.find("spec");
  std::int64_t period = 0;
  if (options.grace_period_seconds)
    period = *options.grace_period_seconds;
  else if (spec != pod.end())
    period = number_at(*spec, "terminationGracePeriodSeconds").value_or(0);
  const bool scheduled = spec != pod.end() && !text_at(*spec, "nodeName").empty();
  const auto status = pod.find("status");
  const std::string phase = status == pod.end() ? std::string() : text_at(*status, "phase");
  if (!scheduled || phase == "Failed" || phase == "Succeeded") return 0;
  return period < 0 ? 1 : period;
}

void bump_generation(Json& meta) {
  if (const auto generation = number_at(meta, "generation"); generation && *generation > 0)
    meta["generation"] = *generation + 1;
}

// A second delete may only shorten the grace that was given.
Grace shorten_grace(const ServerState& state, Json& meta, DeleteOptions& options) {
  const std::int64_t given = number_at(meta, "deletionGracePeriodSeconds").value_or(0);
  if (given == 0) return Grace::kNone;
  if (!options.grace_period_seconds || *options.grace_period_seconds >= given)
    return Grace::kPending;
  std::int64_t period = *options.grace_period_seconds;
  const auto stamp = parse_time(text_at(meta, "deletionTimestamp"));
  WallTime until = stamp ? *stamp - seconds(given) + seconds(period) : state.now;
  if (until < state.now) {
    until = state.now;
    if (period != 0) period = 1;
  }
  meta["deletionTimestamp"] = format_time(until);
  meta["deletionGracePeriodSeconds"] = period;
  return Grace::kGiven;
}

Grace give_grace(const ServerState& state, const ResourceInfo& info, Json& object,
                 DeleteOptions& options) {
  if (!info.graceful_delete) return Grace::kNone;
  Json& meta = metadata_of(object);
  if (meta.contains("deletionTimestamp")) return shorten_grace(state, meta, options);
  options.grace_period_seconds = std::min(pod_grace(object, options), kGraceMax);
  meta["deletionTimestamp"] = format_time(state.now + seconds(*options.grace_period_seconds));
  meta["deletionGracePeriodSeconds"] = *options.grace_period_seconds;
  bump_generation(meta);
  return Grace::kGiven;
}

bool contains(const std::vector<std::string>& all, std::string_view one) {
  return std::ranges::find(all, one) != all.end();
}

bool wants_orphans(const ResourceInfo& info, const DeleteOptions& options,
                   const std::vector<std::string>& finalizers) {
  if (options.orphan_dependents) return *options.orphan_dependents;
  if (options.propagation) return *options.propagation == "Orphan";
  if (contains(finalizers, kFinalizerOrphan)) return true;
  if (contains(finalizers, kFinalizerForeground)) return false;
  return info.orphans_by_default;
}

bool wants_foreground(const DeleteOptions& options, const std::vector<std::string>& finalizers) {
  if (options.orphan_dependents) return false;
  if (options.propagation) return *options.propagation == "Foreground";
  return contains(finalizers, kFinalizerForeground) && !contains(finalizers, kFinalizerOrphan);
}

// The collector's own finalizers follow the options; the others stay.
bool set_gc_finalizers(const ResourceInfo& info, const DeleteOptions& options, Json& meta) {
  const std::vector<std::string> before = finalizers_of(meta);
  std::vector<std::string> after = before;
  std::erase(after, kFinalizerOrphan);
  std::erase(after, kFinalizerForeground);
  if (wants_orphans(info, options, before)) after.emplace_back(kFinalizerOrphan);
  if (wants_foreground(options, before)) after.emplace_back(kFinalizerForeground);
  std::vector<std::string> sorted = before;
  std::vector<std::string> wanted = after;
  std::ranges::sort(sorted);
  std::ranges::sort(wanted);
  if (sorted == wanted) return false;
  set_finalizers(meta, after);
  return true;
}

// Finalizers are pending on an object without grace: it is marked and waits.
void mark_deleting(const ServerState& state, Json& meta) {
  const auto stamp = parse_time(text_at(meta, "deletionTimestamp"));
  if (!stamp) bump_generation(meta);
  if (!stamp || *stamp > state.now) meta["deletionTimestamp"] = format_time(state.now);
  meta["deletionGracePeriodSeconds"] = 0;
}

ObjectPtr write_mark(ServerState& state, const ResourceInfo& info, const ObjectPtr& object,
                     Json changed, bool dry) {
  metadata_of(changed)["resourceVersion"] = std::to_string(object->version);
  ObjectPtr same = stored_form(state, info, changed, object->version);
  if (dry || same->text == object->text) return dry ? same : object;
  return put_object(state, info, std::move(changed));
}

Outcome<Deleted> terminate_namespace(ServerState& state, const ResourceInfo& info,
                                     const ObjectPtr& object, const DeleteOptions& options) {
  Json changed = parsed(*object);
  Json& meta = metadata_of(changed);
  meta["deletionTimestamp"] = format_time(state.now);
  Json& status = changed["status"];
  if (!status.is_object()) status = Json::object();
  status["phase"] = "Terminating";
  set_gc_finalizers(info, options, meta);
  return Deleted{.object = write_mark(state, info, object, std::move(changed), options.dry)};
}

void warn_of_orphans(Request& request, const DeleteOptions& options) {
  if (!request.info->orphans_by_default || options.propagation || options.orphan_dependents) return;
  request.warnings.emplace_back(
      "child pods are preserved by default when jobs are deleted; set "
      "propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress "
      "this warning");
}

bool namespace_has_finalizers(const StoredObject& object) {
  const Json json = parsed(object);
  const auto spec = json.find("spec");
  if (spec == json.end() || !spec->is_object()) return false;
  const auto finalizers = spec->find("finalizers");
  return finalizers != spec->end() && !finalizers->empty();
}

bool immortal(std::string_view name) {
  static constexpr std::array<std::string_view, 3> kNames = {"default", "kube-system",
                                                             "kube-public"};
  return std::ranges::find(kNames, name) != kNames.end();
}

}  // namespace

Outcome<Deleted> delete_object(ServerState& state, const ResourceInfo& info,
                               const ObjectPtr& object, DeleteOptions options) {
  OUTCOME_CHECK(check_preconditions(state, info, *object, options));
  if (is_namespace(info)) {
    if (immortal(object->name()))
      return forbidden(info.resource_name(), object->name(), "this namespace may not be deleted");
    if (!object->deleting) return terminate_namespace(state, info, object, options);
    if (namespace_has_finalizers(*object)) return Deleted{.object = object};
  }
  if (options.grace_period_seconds && *options.grace_period_seconds < 0)
    options.grace_period_seconds = 1;
  Json changed = parsed(*object);
  const Grace grace = give_grace(state, info, changed, options);
  if (grace == Grace::kPending)
    return Deleted{.object = object, .as_status = !info.returns_deleted};
  Json& meta = metadata_of(changed);
  const bool moved = set_gc_finalizers(info, options, meta);
  const bool pending = !finalizers_of(meta).empty();
  ObjectPtr left = object;
  if (grace == Grace::kGiven || pending || moved) {
    if (grace == Grace::kNone && pending) mark_deleting(state, meta);
    if (grace == Grace::kGiven || pending)
      left = write_mark(state, info, object, std::move(changed), options.dry);
    const bool waits = grace == Grace::kGiven && options.grace_period_seconds.value_or(0) > 0;
    if (pending || waits) return Deleted{.object = left};
  }
  if (!options.dry) left = remove_object(state, info, *left);
  return Deleted{.object = left, .gone = true, .as_status = !info.returns_deleted};
}

Outcome<Reply> remove(ServerState& state, Request& request) {
  OUTCOME_TRY(DeleteOptions options, read_delete_options(state, request));
  const ResourceInfo& info = *request.info;
  warn_of_orphans(request, options);
  const ObjectPtr found = state.table.get(request.resource, request.key());
  if (!found) return not_found(info.resource_name(), request.route.name);
  const bool cascades = options.orphan_dependents && !*options.orphan_dependents;
  OUTCOME_TRY(const Deleted deleted, delete_object(state, info, found, std::move(options)));
  const int code = !deleted.gone && cascades ? 202 : 200;
  if (!deleted.as_status) return object_reply(state, request, code, *deleted.object);
  Status status{.code = code};
  status.name = found->name();
  status.group = info.group;
  status.kind = info.plural;
  status.uid = found->uid;
  Reply reply = json_reply(request, code, to_json(status));
  reply.wait_version = state.table.version();
  return reply;
}

Outcome<Reply> remove_collection(ServerState& state, Request& request) {
  OUTCOME_CHECK(check_list_options(request.query));
  OUTCOME_TRY(const DeleteOptions options, read_delete_options(state, request));
  warn_of_orphans(request, options);
  OUTCOME_TRY(const Selection selection, selection_of(state, request));
  const std::uint64_t seen = state.table.version();
  const std::size_t limit =
      request.query.limit > 0 ? static_cast<std::size_t>(request.query.limit) : kCollectionMax;
  const Page page = state.table.page(
      request.resource, {.prefix = selection.prefix, .version = seen, .limit = limit},
      [&](const StoredObject& object) { return selection.matches(object); });
  for (const ObjectPtr& item : page.items)
    OUTCOME_CHECK(delete_object(state, *request.info, item, options));
  Reply reply{.wait_version = state.table.version()};
  reply.body = render_list(state.rules, render_as(state, request), {.version = seen}, page.items);
  return reply;
}

}  // namespace amdahl::local

#include "examples/gang.hpp"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "operator/kube/resource_version.hpp"

namespace amdahl::examples {
namespace {

using controller::child_name;
using Phase = kube::PodPhase;

constexpr std::uint32_t kSizeMax = 64;
constexpr std::uint32_t kRestartsMax = 1000;
constexpr const char* kGang = "example/gang";
constexpr const char* kAttempt = "example/attempt";
constexpr const char* kRank = "example/rank";

std::optional<std::uint32_t> number(const PackedMap& map, std::string_view key) {
  const std::string_view text = map.find(key).value_or("");
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

template <class Ptr>
bool owned(const Ptr& object, const std::string& uid) {
  const auto owner = object ? controller::controller_of(*object) : std::nullopt;
  return owner && owner->uid == uid;
}

std::uint32_t attempt_of(const PodPtr& pod) {
  return number(pod->metadata.labels, kAttempt).value_or(0);
}
// By a live read: the cache may be behind, and a pod that has ended is kept for its log.
bool has_ended(const Json& pod) {
  const std::string phase = pod.value("/status/phase"_json_pointer, std::string());
  return phase == "Succeeded" || phase == "Failed";
}

bool finished(const PodPtr& pod) {
  return pod->status.phase == Phase::kSucceeded || pod->status.phase == Phase::kFailed;
}

GangRecord after_failure(const GangSeen& seen) {
  const GangRecord& now = *seen.record;
  if (now.attempt >= seen.restarts_max) return {now.attempt, now.size, "Failed", ""};
  return {now.attempt + 1, seen.size, "Starting", ""};
}

Json pod_of(const GangSeen& seen, const std::string& shared, std::uint32_t rank) {
  const GangRecord& record = *seen.record;
  const std::string& gang = seen.gang->metadata.name;
  const std::string name = child_name(gang, {.attempt = record.attempt, .index = rank});
  const std::string first = child_name(gang, {.attempt = record.attempt, .index = 0});
  const auto value = [&](const char* key, const char* otherwise) {
    return std::string(seen.gang->data.find(key).value_or(otherwise));
  };
  Json needs{{"cpu", value("cpu", "100m")}};
  if (const auto gpus = seen.gang->data.find("gpus")) needs["nvidia.com/gpu"] = *gpus;
  Json env = Json::array();
  using Variable = std::pair<const char*, std::string>;
  for (const auto& [key, text] :
       {Variable("RANK", std::to_string(rank)), Variable("WORLD_SIZE", std::to_string(record.size)),
        Variable("ATTEMPT", std::to_string(record.attempt)),
        Variable("MASTER_ADDR", first + "." + shared), Variable("MASTER_PORT", "29500")})
    env.push_back({{"name", key}, {"value", text}});
  return {{"metadata",
           {{"name", name},
            {"labels",
             {{kGang, shared},
              {kAttempt, std::to_string(record.attempt)},
              {kRank, std::to_string(rank)}}},
            {"annotations", {{"scheduling.k8s.io/group-name", shared}}}}},
          {"spec",
           {{"schedulerName", "volcano"},
            {"restartPolicy", "Never"},
            {"hostname", name},
            {"subdomain", shared},
            {"containers",
             {{{"name", "main"},
               {"image", value("image", "busybox")},
               {"command", {"sh", "-c", value("command", "true")}},
               {"env", env},
               {"resources", {{"requests", needs}, {"limits", needs}}}}}}}}};
}

Task<Result<Json>> write_record(GangSeen seen, GangRecord record, controller::Writer& writer) {
  const Json data{{"attempt", std::to_string(record.attempt)},
                  {"size", std::to_string(record.size)},
                  {"phase", record.phase},
                  {"podsAt", record.pods_at}};
  if (seen.result)
    co_return co_await writer.patch(kube::kConfigMaps, seen.result->metadata.key(),
                                    seen.result->metadata.version, {{"data", data}});
  const std::string name = child_name(seen.gang->metadata.name, {.role = "result"});
  co_return co_await writer.create_child(kube::kConfigMaps,
                                         {{"metadata", {{"name", name}}}, {"data", data}},
                                         controller::owner_object(*seen.gang));
}

}  // namespace

Result<std::optional<GangSeen>> Gang::observe(const kube::ObjectKey& key) {
  GangSeen seen{.gang = caches_.maps.find(key)};
  if (!seen.gang || seen.gang->metadata.labels.find("gang") != "yes") return std::nullopt;
  const std::string& uid = seen.gang->metadata.uid;
  seen.size = number(seen.gang->data, "size").value_or(0);
  seen.restarts_max = number(seen.gang->data, "maxRestarts").value_or(0);
  if (seen.size < 1 || seen.size > kSizeMax || seen.restarts_max > kRestartsMax)
    return fail(Errc::kTerminal, "gang {}: size must be 1 to {}, maxRestarts at most {}",
                to_string(key), kSizeMax, kRestartsMax);
  const kube::ObjectKey shared{.ns = key.ns, .name = child_name(key.name, {.role = "gang"})};
  seen.has_group = owned(caches_.groups.find(shared), uid);
  seen.has_service = owned(caches_.services.find(shared), uid);
  seen.pods = caches_.pods.by_index("owner", uid);
  seen.pods_version = caches_.pods.version();
  const MapPtr result =
      caches_.maps.find({.ns = key.ns, .name = child_name(key.name, {.role = "result"})});
  if (!owned(result, uid)) return seen;  // a name that is taken is reported by create_child()
  seen.result = result;
  const auto attempt = number(result->data, "attempt");
  const auto size = number(result->data, "size");
  if (attempt && size && *size <= kSizeMax)
    seen.record = GangRecord{*attempt, *size, std::string(result->data.find("phase").value_or("")),
                             std::string(result->data.find("podsAt").value_or(""))};
  return seen;
}

GangPlan Gang::decide(const GangSeen& seen, WallTime /*now*/) const {
  GangPlan plan{.seen = seen};
  if (!seen.record) {  // begin, or go on where the pods say that we were
    plan.record = GangRecord{.size = seen.size, .phase = "Starting"};
    for (const PodPtr& pod : seen.pods)
      plan.record->attempt = std::max(plan.record->attempt, attempt_of(pod));
    return plan;
  }
  const GangRecord& now = *seen.record;
  std::vector<bool> there(now.size);
  std::uint32_t succeeded = 0;
  bool lost = false;
  bool begun = false;
  bool old_ones = false;
  for (const PodPtr& pod : seen.pods) {
    const bool old = attempt_of(pod) < now.attempt || now.phase == "Failed";
    const std::uint32_t rank = number(pod->metadata.labels, kRank).value_or(now.size);
    old_ones = old_ones || (old && !finished(pod));
    if (old && !finished(pod) && !pod->metadata.deleted) plan.drop.push_back(pod);
    if (attempt_of(pod) != now.attempt || rank >= now.size) continue;
    there[rank] = true;
    begun = begun || pod->status.phase == Phase::kRunning || finished(pod);
    succeeded += pod->status.phase == Phase::kSucceeded ? 1 : 0;
    lost = lost || pod->status.phase == Phase::kFailed || (pod->metadata.deleted && !finished(pod));
  }
  if (now.phase == "Succeeded" || now.phase == "Failed") return plan;
  const bool whole = std::ranges::find(there, false) == there.end();
  // Pods run when all are placed, so beside one that runs a missing one is gone, not still to come.
  // A cache older than the one that had them all cannot tell that one is gone (L13).
  const bool had_all = now.phase == "Running" && !kube::is_older(seen.pods_version, now.pods_at);
  lost = lost || (!whole && (begun || had_all));
  if (lost) {
    plan.record = after_failure(seen);
    plan.reason = plan.record->phase == "Failed" ? "GangFailed" : "GangRestarted";
  } else if (succeeded == now.size) {
    plan.record = GangRecord{now.attempt, now.size, "Succeeded", ""};
    plan.reason = "GangSucceeded";
  } else if (now.phase != "Running" && whole) {
    plan.record = GangRecord{now.attempt, now.size, "Running", seen.pods_version};
  } else if (now.phase != "Running" && !old_ones) {  // two attempts never run side by side
    for (std::uint32_t rank = 0; rank < now.size; ++rank)
      if (!there[rank]) plan.create.push_back(rank);
  }
  return plan;
}

Task<Result<controller::Outcome>> Gang::apply(GangPlan plan, controller::Writer& writer) {
  const GangSeen& seen = plan.seen;
  const controller::OwnerObject owner = controller::owner_object(*seen.gang);
  if (owner.deleting) co_return controller::Outcome{};
  const std::string shared = child_name(owner.key.name, {.role = "gang"});
  if (!seen.has_group)
    CO_TRY(co_await writer.create_child(
        kube::kPodGroups, {{"metadata", {{"name", shared}}}, {"spec", {{"minMember", seen.size}}}},
        owner));
  if (!seen.has_service)  // pods find each other as <pod>.<service>, before they are ready
    CO_TRY(co_await writer.create_child(kube::kServices,
                                        {{"metadata", {{"name", shared}}},
                                         {"spec",
                                          {{"clusterIP", "None"},
                                           {"publishNotReadyAddresses", true},
                                           {"selector", {{kGang, shared}}}}}},
                                        owner));
  for (const PodPtr& pod : plan.drop)
    CO_TRY(co_await writer.delete_child({.resource = kube::kPods,
                                         .key = pod->metadata.key(),
                                         .uid = pod->metadata.uid.str(),
                                         .still_wanted = has_ended}));
  for (const std::uint32_t rank : plan.create)
    CO_TRY(co_await writer.create_child(kube::kPods, pod_of(seen, shared, rank), owner));
  if (!plan.record) co_return controller::Outcome{};
  CO_TRY(co_await write_record(seen, *plan.record, writer));
  if (!plan.reason.empty())
    events_.record({.subject = controller::event_subject(*seen.gang),
                    .reason = plan.reason,
                    .action = plan.record->phase,
                    .note = fmt::format("after attempt {} of {}", seen.record->attempt + 1,
                                        seen.restarts_max + 1)});
  co_return controller::Outcome{};
}

GangCaches::GangCaches() {
  pods.add_index("owner", [](const kube::Pod& pod) -> std::vector<std::string> {
    const auto owner = controller::controller_of(pod);
    return owner ? std::vector{owner->uid} : std::vector<std::string>{};
  });
}

GangProgram::GangProgram(const controller::Runtime& runtime, Rng rng, const std::string& ns,
                         controller::ManagerOptions options)
    : manager(runtime, rng.split(), std::move(options)),
      gang(caches, manager.events()),
      controller(runtime, rng.split(), {.name = "gang"}, gang) {
  const auto watch = [&]<class T>(Store<T>& store) {
    watchers.push_back(std::make_unique<kube::Watcher>(
        runtime.client, rng.split(),
        kube::WatcherOptions{.resource = T::resource(), .ns = ns, .shape = Store<T>::shape()},
        store));
    manager.add_source(store, [&watcher = *watchers.back()] { return watcher.run(); });
    controller.owns(store);
  };
  controller.reconciles(caches.maps);
  watch(caches.maps);
  watch(caches.pods);
  watch(caches.groups);
  watch(caches.services);
  manager.add(controller);
}

}  // namespace amdahl::examples

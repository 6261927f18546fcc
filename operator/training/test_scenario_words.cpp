// What can happen in a scenario, one function a word.

#include <charconv>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>

#include "base/duration.hpp"
#include "base/json_decode.hpp"
#include "base/json_encode.hpp"
#include "operator/api/names.hpp"
#include "operator/training/test_scenario.hpp"

namespace amdahl::training {
namespace {

using Words = std::vector<Word>;

std::int64_t number(const std::string& text) {
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}
std::chrono::nanoseconds span(const std::string& text) {
  return parse_go_duration(text).value_or(std::chrono::nanoseconds{0});
}
Json template_value(const std::string& text) {
  Json value = Json::parse(text, nullptr, false);
  return value.is_discarded() ? Json(text) : value;
}

using SetField = std::function<void(TrainingJob&, const std::string&)>;
const std::map<std::string, SetField>& job_fields() {
  static const std::map<std::string, SetField> kFields = {
      {"name", [](auto& j, auto& v) { j.metadata.name = v; }},
      {"nodes", [](auto& j, auto& v) { j.spec.nodes = static_cast<std::int32_t>(number(v)); }},
      {"processes",
       [](auto& j, auto& v) { j.spec.processes_per_node = static_cast<std::int32_t>(number(v)); }},
      {"runtime", [](auto& j, auto& v) { j.spec.runtime = *parse_enum<api::Runtime>(v); }},
      {"suspend", [](auto& j, auto& v) { j.spec.suspend = v != "false"; }},
      {"cancel", [](auto& j, auto& v) { j.spec.cancel = v != "false"; }},
      {"gang",
       [](auto& j, auto& v) { j.spec.scheduling.gang = *parse_enum<api::GangScheduler>(v); }},
      {"queue", [](auto& j, auto& v) { j.spec.scheduling.queue = v; }},
      {"priority", [](auto& j, auto& v) { j.spec.scheduling.priority_class = v; }},
      {"tier",
       [](auto& j, auto& v) {
         j.spec.scheduling.network_topology =
             api::NetworkTopology{.highest_tier_allowed = static_cast<std::int32_t>(number(v))};
       }},
      {"admission",
       [](auto& j, auto& v) { j.spec.scheduling.admission = *parse_enum<api::Admission>(v); }},
      {"uri", [](auto& j, auto& v) { j.spec.checkpoint.uri = v; }},
      {"interval", [](auto& j, auto& v) { j.spec.checkpoint.interval = span(v); }},
      {"arenaBytes", [](auto& j, auto& v) { j.spec.checkpoint.arena_bytes = v; }},
      {"pauseDeadline", [](auto& j, auto& v) { j.spec.checkpoint.pause.deadline = span(v); }},
      {"pausePolicy",
       [](auto& j, auto& v) { j.spec.checkpoint.pause.policy = *parse_enum<api::PausePolicy>(v); }},
      {"maxFailures",
       [](auto& j, auto& v) {
         j.spec.restart.failures_max = static_cast<std::int32_t>(number(v));
       }},
      {"maxDisruptions",
       [](auto& j, auto& v) {
         j.spec.restart.disruptions_max = static_cast<std::int32_t>(number(v));
       }},
      {"refill", [](auto& j, auto& v) { j.spec.restart.refill_on_progress = v != "false"; }},
      {"backoff", [](auto& j, auto& v) { j.spec.restart.backoff = span(v); }},
      {"backoffMax", [](auto& j, auto& v) { j.spec.restart.backoff_max = span(v); }},
      {"queueDeadline", [](auto& j, auto& v) { j.spec.deadlines.queue = span(v); }},
      {"startDeadline", [](auto& j, auto& v) { j.spec.deadlines.start = span(v); }},
      {"stepDeadline", [](auto& j, auto& v) { j.spec.deadlines.step = span(v); }},
      {"activeDeadline", [](auto& j, auto& v) { j.spec.deadlines.active = span(v); }},
      {"ttl",
       [](auto& j, auto& v) {
         j.spec.ttl_after_finished = v.empty() ? OptionalDuration{} : OptionalDuration{span(v)};
       }},
      {"by",
       [](auto& j, auto& v) { j.metadata.annotations = {{api::annotation::kRequestedBy, v}}; }},
      {"gpus", [](auto& j, auto& v) {
         j.spec.pod_template["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] =
             number(v);
       }}};
  return kFields;
}

Result<void> job_word(World& world, const Words& words) {
  if (words.size() == 2 && words[1].key == "deleted") return world.delete_job(), Result<void>{};
  if (words.size() == 2 && words[1].key == "deleting")
    return world.delete_job(true), Result<void>{};
  if (words.size() == 2 && words[1].key == "recreated") return world.recreate_job(), Result<void>{};
  TrainingJob& job = world.edit();
  for (std::size_t i = 1; i < words.size(); ++i) {
    const auto field = job_fields().find(words[i].key);
    if (field == job_fields().end()) return fail(Errc::kInvalid, "no field {}", words[i].key);
    field->second(job, words[i].value);
  }
  return {};
}

void wait_badly(GangPod& pod, const std::string& reason, WallTime /*now*/) {
  kube::ContainerStatus status{.name = "trainer"};
  status.state.waiting = kube::ContainerWaiting{.reason = reason};
  pod.status.containers = {std::move(status)};
}

void say_last(World& world, GangPod& pod) {
  const auto found = world.reports.find(pod.metadata.uid.str());
  if (found == world.reports.end() || !pod.status.containers[0].state.terminated) return;
  pod.status.containers[0].state.terminated->message = encode(found->second.report).dump();
}

void pod_detail(World& world, GangPod& pod, const Word& word) {
  using kube::PodConditionType;
  const auto terminated = [&]() -> kube::ContainerTerminated& {
    return *pod.status.containers.at(0).state.terminated;
  };
  if (word.key == "exit") terminated().exit_code = static_cast<std::int32_t>(number(word.value));
  if (word.key == "reason") terminated().reason = word.value;
  if (word.key == "message") terminated().message = word.value;
  if (word.key == "saysLast") say_last(world, pod);
  if (word.key == "podReason") pod.status.reason = word.value;
  if (word.key == "podMessage") pod.status.message = word.value;
  if (word.key == "node") pod.spec.node = word.value;
  if (word.key == "waiting") wait_badly(pod, word.value, world.now);
  if (word.key == "waitingMessage") pod.status.containers[0].state.waiting->message = word.value;
  if (word.key == "deleted") world.mark_deleted(pod, word.has_value ? number(word.value) : 30);
  if (word.key == "unschedulable")
    pod.status.conditions = {{.type = PodConditionType::kScheduled,
                              .status = kube::ConditionStatus::kFalse,
                              .reason = "Unschedulable",
                              .message = word.value}};
  if (word.key == "disruption")
    pod.status.conditions.push_back({.type = PodConditionType::kDisruptionTarget,
                                     .status = kube::ConditionStatus::kTrue,
                                     .changed = world.now,
                                     .reason = word.value});
}

Result<void> one_pod(World& world, GangPod& pod, const Words& words) {
  for (std::size_t i = 2; i < words.size(); ++i) {
    const std::string& key = words[i].key;
    if (key == "Bound") world.bind(pod);
    if (key == "Running") world.run(pod);
    if (key == "Succeeded") world.end(pod, kube::PodPhase::kSucceeded, 0, "Completed");
    if (key == "Failed") world.end(pod, kube::PodPhase::kFailed, 1, "Error");
    pod_detail(world, pod, words[i]);
  }
  return {};
}

Result<void> pod_word(World& world, const Words& words) {
  const std::string& which = words.at(1).key;
  GangPod* const pod = which.find('-') != std::string::npos
                           ? world.pod(which)
                           : world.pod(static_cast<std::uint32_t>(number(which)));
  if (pod == nullptr) return fail(Errc::kInvalid, "there is no pod {}", which);
  if (words.at(2).key == "gone") return world.remove(pod->metadata.name.str()), Result<void>{};
  return one_pod(world, *pod, words);
}

Result<void> pods_word(World& world, const Words& words) {
  Words each = words;
  each.insert(each.begin() + 1, Word{});
  for (const std::string& name : world.pod_names()) {
    GangPod& pod = world.pods.at(name);
    const auto identity = api::pod_identity(pod.metadata.labels);
    if (!identity || static_cast<std::int64_t>(identity->attempt) != world.attempt()) continue;
    if (words.at(1).key == "gone")
      world.remove(name);
    else if (auto done = one_pod(world, pod, each); !done)
      return done;
  }
  return {};
}

Result<void> group_word(World& world, const Words& words) {
  kube::PodGroup group = world.group ? *world.group : kube::PodGroup{};
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (words[i].key == "phase")
      group.status.phase = *parse_enum<kube::PodGroupPhase>(words[i].value);
    if (words[i].key == "foreign") group.metadata = {.name = "train-gang", .uid = "other"};
    if (words[i].key == "unschedulable")
      group.status.conditions = {{.type = "Unschedulable",
                                  .status = kube::ConditionStatus::kTrue,
                                  .reason = "NotEnoughResources",
                                  .message = words[i].value}};
    if (words[i].key == "gone") return world.group.reset(), Result<void>{};
  }
  world.group = std::make_shared<kube::PodGroup>(std::move(group));
  return {};
}

// node a nvidia.com/gpu=8 [held=4] [cordoned]
Result<void> node_word(World& world, const Words& words) {
  kube::Node node{.metadata = {.name = words.at(1).key}};
  std::int64_t held = 0;
  for (const Word& word : words) {
    node.spec.unschedulable |= word.key == "cordoned";
    if (word.key == "held") held = number(word.value);
    if (word.key.find('/') != std::string::npos)
      node.status.allocatable[word.key] = kube::Quantity::from_integer(number(word.value));
  }
  return world.add_node(std::move(node), held), Result<void>{};
}

Result<void> template_word(World& world, const Words& words) {
  const Json::json_pointer path(words.at(1).key);
  TrainingJob& job = world.edit();
  if (words.at(1).has_value)
    job.spec.pod_template[path] = template_value(words[1].value);
  else
    job.spec.pod_template =
        job.spec.pod_template.patch({{{"op", "remove"}, {"path", words[1].key}}});
  return {};
}

Result<void> refused_word(World& world, const Words& words) {
  static const std::map<std::string, CreateRefusalKind> kKinds = {
      {"Invalid", CreateRefusalKind::kInvalid},
      {"Quota", CreateRefusalKind::kQuota},
      {"NameTaken", CreateRefusalKind::kNameTaken},
      {"Denied", CreateRefusalKind::kDenied}};
  world.refusal = CreateRefusal{.kind = kKinds.at(words.at(1).key), .words = words.at(2).key};
  return {};
}

Result<void> cluster_word(World& world, const Words& words) {
  const std::string& what = words.at(0).key;
  const std::string& how = words.at(1).key;
  if (what == "clock" || what == "time") {
    const auto by = std::chrono::duration_cast<WallTime::duration>(span(how.substr(1)));
    what == "time" ? void(world.now += by) : world.set_clock(how.starts_with('-') ? -by : by);
  } else if (what == "volcano") {
    world.volcano_served = how == "served";
    if (how == "absent") world.group.reset();
  } else if (what == "queue") {
    world.queue = how == "closed"    ? QueueState::kClosed
                  : how == "missing" ? QueueState::kMissing
                                     : QueueState::kOpen;
  } else if (what == "epoch") {
    world.epoch = number(how);
    world.change_leader();
  } else if (what == "launch") {
    world.options.launch_path = how;
  }
  return {};
}

Result<void> play_word(World& world, const Words& words) {
  if (words.at(0).key == "upto") {
    world.reach(*parse_enum<api::Phase>(words.at(1).key));
  } else if (words.at(0).key == "flip") {
    world.flip_suspend(number(words.at(1).key));
  } else if (words.at(0).key == "kubelets") {
    world.kubelets();
  } else if (words.at(0).key == "crash") {
    world.crash_after(static_cast<std::size_t>(number(words.at(1).key)));
    (void)world.play(world.decide());
  } else {
    world.settle();
  }
  return {};
}

}  // namespace

Result<void> happen(World& world, std::string_view line) {
  using Act = Result<void> (*)(World&, const Words&);
  static const std::map<std::string, Act> kActs = {
      {"job", job_word},         {"template", template_word}, {"pod", pod_word},
      {"pods", pods_word},       {"report", report_word},     {"group", group_word},
      {"refused", refused_word}, {"volcano", cluster_word},   {"queue", cluster_word},
      {"clock", cluster_word},   {"time", cluster_word},      {"epoch", cluster_word},
      {"launch", cluster_word},  {"play", play_word},         {"upto", play_word},
      {"kubelets", play_word},   {"crash", play_word},        {"flip", play_word},
      {"node", node_word},       {"store", store_word}};
  const Words words = words_of(line);
  if (words.empty()) return {};
  const auto act = kActs.find(words[0].key);
  if (act == kActs.end()) return fail(Errc::kInvalid, "no word {}", words[0].key);
  return act->second(world, words);
}

}  // namespace amdahl::training

#include "tests/simulation/end_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "operator/api/names.hpp"
#include "operator/api/report_env.hpp"
#include "operator/controller/writer.hpp"

namespace amdahl::simulation {
namespace {

// Whose state is compared.
constexpr std::array<std::string_view, 5> kCompared = {"configmaps", "pods", "podgroups",
                                                       "services", "trainingjobs"};

bool compared(std::string_view storage) {
  return std::ranges::any_of(kCompared, [&](std::string_view kind) {
    return storage.substr(0, storage.find_first_of("./")) == kind;
  });
}

// One follows from the uid of the job, the other from when it was paused.
void forget_timing(Json& pod) {
  if (!pod.contains("containers")) return;
  for (Json& container : pod["containers"])
    for (Json& variable : container["env"])
      if (variable["name"] == api::report_env::kAttemptId ||
          variable["name"] == api::env::kResumeStep)
        variable["value"] = "";
}

void strip(Json& object) {
  Json& meta = object["metadata"];
  for (const char* field :
       {"uid", "resourceVersion", "creationTimestamp", "managedFields", "generation"})
    meta.erase(field);
  if (meta.contains("labels")) meta["labels"].erase(std::string(controller::kEpochKey));
  if (meta.contains("annotations")) meta["annotations"].erase("monkey");
  if (meta.contains("annotations") && meta["annotations"].empty()) meta.erase("annotations");
  if (meta.contains("ownerReferences"))
    for (Json& owner : meta["ownerReferences"]) owner.erase("uid");
  if (object.contains("spec") && object["spec"].is_object()) {
    object["spec"].erase("nodeName");
    forget_timing(object["spec"]);
  }
  const auto status = object.find("status");
  if (status == object.end() || !status->is_object()) return;
  const Json phase = status->value("phase", Json());
  const Json pause = status->value("pause", Json());
  object.erase("status");
  if (phase.is_null()) return;
  object["status"] = {{"phase", phase}};
  // Whether a pause that lasts lost steps. What it found to save is a matter of timing, and so is
  // the record of one that is over.
  if (phase != "Paused" || !pause.is_object()) return;
  const std::string outcome = pause.value("outcome", "");
  const bool kept = outcome == "Committed" || outcome == "NothingToSave";
  object["status"]["pause"] = kept ? "nothing lost" : outcome;
}

using Names = std::map<std::string, std::string>;  // of objects, by uid

Names names_of(const local::ObjectTable& table) {
  Names names;
  for (local::ResourceId id = 0; id < table.resources(); ++id)
    if (compared(table.storage(id)))
      for (const auto& [key, object] : table.objects(id))
        names[object->uid] = fmt::format("<uid of {} {}>", table.storage(id), key);
  return names;
}

// A pod's environment has the uid of its job: the same name instead, as long as that job is there.
void name_uids(Json& value, const Names& names) {
  if (value.is_structured()) {
    for (Json& member : value) name_uids(member, names);
  } else if (value.is_string()) {
    auto& text = value.get_ref<std::string&>();
    for (const auto& [uid, name] : names)
      if (const auto at = text.find(uid); at != std::string::npos)
        text.replace(at, uid.size(), name);
  }
}

bool is_paused(const Json& object) {
  const auto status = object.find("status");
  return status != object.end() && status->value("phase", "") == "Paused";
}

}  // namespace

EndState end_state(const local::ObjectTable& table) {
  EndState state;
  std::vector<std::string> idle;  // a paused job has a Service if it began to start: that is timing
  const Names names = names_of(table);
  for (local::ResourceId id = 0; id < table.resources(); ++id) {
    const std::string& storage = table.storage(id);
    if (!compared(storage)) continue;
    for (const auto& [key, object] : table.objects(id)) {
      Json json = local::parsed(*object);
      strip(json);
      name_uids(json, names);
      if (is_paused(json))
        idle.push_back(
            fmt::format("services {}/{}", object->ns(), api::service_name(object->name())));
      state[storage + " " + key] = json.dump();
    }
  }
  for (const std::string& service : idle) state.erase(service);
  return state;
}

std::vector<std::string> child_paths(const local::ObjectTable& table) {
  std::vector<std::string> paths;
  for (local::ResourceId id = 0; id < table.resources(); ++id) {
    const std::string& storage = table.storage(id);
    if (!compared(storage)) continue;
    const std::string plural = storage.substr(0, storage.find_first_of("./"));
    const std::string group =
        plural == "podgroups" ? "apis/scheduling.volcano.sh/v1beta1" : "api/v1";
    for (const auto& [key, object] : table.objects(id))
      if (!object->owners.empty())
        paths.push_back(
            fmt::format("/{}/namespaces/{}/{}/{}", group, object->ns(), plural, object->name()));
  }
  return paths;
}

}  // namespace amdahl::simulation

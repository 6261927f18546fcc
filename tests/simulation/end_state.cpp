#include "tests/simulation/end_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

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
  if (object.contains("spec") && object["spec"].is_object()) object["spec"].erase("nodeName");
  const auto status = object.find("status");
  if (status == object.end() || !status->is_object()) return;
  const Json phase = status->value("phase", Json());
  object.erase("status");
  if (!phase.is_null()) object["status"] = {{"phase", phase}};
}

}  // namespace

EndState end_state(const local::ObjectTable& table) {
  EndState state;
  for (local::ResourceId id = 0; id < table.resources(); ++id) {
    const std::string& storage = table.storage(id);
    if (!compared(storage)) continue;
    for (const auto& [key, object] : table.objects(id)) {
      Json json = local::parsed(*object);
      strip(json);
      state[storage + " " + key] = json.dump();
    }
  }
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

// Shapes for tests: enough of a Deployment to see every way to merge.
#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "local/apiserver/model/merge_shape.hpp"

namespace amdahl::local::test {

using Json = nlohmann::json;
using Fields = std::initializer_list<std::pair<const std::string, MergeShapePtr>>;

inline MergeShapePtr scalar() {
  return std::make_shared<MergeShape>(MergeShape{.kind = MergeKind::kScalar});
}
inline MergeShapePtr atomic() {
  return std::make_shared<MergeShape>(MergeShape{.kind = MergeKind::kAtomic});
}
inline MergeShapePtr object(Fields fields) {
  MergeShape shape{.kind = MergeKind::kObject};
  for (const auto& [name, field] : fields) shape.fields.emplace(name, field);
  return std::make_shared<MergeShape>(std::move(shape));
}
inline MergeShapePtr map_of(MergeShapePtr item) {
  MergeShape shape{.kind = MergeKind::kObject};
  shape.item = std::move(item);
  return std::make_shared<MergeShape>(std::move(shape));
}
inline MergeShapePtr set_of_scalars() {
  MergeShape shape{.kind = MergeKind::kSetList};
  shape.item = scalar();
  shape.patch_merge = true;
  return std::make_shared<MergeShape>(std::move(shape));
}
inline MergeShapePtr keyed(std::vector<std::string> keys, const std::string& patch_key,
                           MergeShapePtr item) {
  MergeShape shape{.kind = MergeKind::kMapList};
  shape.keys = std::move(keys);
  shape.item = std::move(item);
  shape.patch_merge = true;
  shape.patch_merge_key = patch_key;
  return std::make_shared<MergeShape>(std::move(shape));
}

inline MergeShapePtr ports() {
  auto item = object({{"name", scalar()}, {"containerPort", scalar()}, {"protocol", scalar()}});
  MergeShape shape = *keyed({"containerPort", "protocol"}, "containerPort", std::move(item));
  shape.key_defaults["protocol"] = "TCP";
  return std::make_shared<MergeShape>(std::move(shape));
}

inline MergeShapePtr metadata() {
  return object({{"name", scalar()},
                 {"namespace", scalar()},
                 {"uid", scalar()},
                 {"resourceVersion", scalar()},
                 {"generation", scalar()},
                 {"creationTimestamp", scalar()},
                 {"managedFields", atomic()},
                 {"labels", map_of(scalar())},
                 {"annotations", map_of(scalar())},
                 {"finalizers", set_of_scalars()}});
}

inline MergeShapePtr pod_spec() {
  auto env = keyed({"name"}, "name", object({{"name", scalar()}, {"value", scalar()}}));
  auto container = object({{"name", scalar()},
                           {"image", scalar()},
                           {"args", atomic()},
                           {"env", std::move(env)},
                           {"ports", ports()}});
  auto volume = object({{"name", scalar()}, {"emptyDir", object({})}, {"hostPath", object({})}});
  return object({{"containers", keyed({"name"}, "name", std::move(container))},
                 {"volumes", keyed({"name"}, "name", std::move(volume))},
                 {"nodeSelector", atomic()},
                 {"tolerations", atomic()}});
}

inline MergeShapePtr deployment() {
  auto strategy = object({{"type", scalar()}, {"rollingUpdate", object({{"maxSurge", scalar()}})}});
  auto pod = object({{"metadata", metadata()}, {"spec", pod_spec()}});
  auto spec = object({{"replicas", scalar()},
                      {"paused", scalar()},
                      {"selector", atomic()},
                      {"strategy", std::move(strategy)},
                      {"template", std::move(pod)}});
  auto status = object({{"replicas", scalar()}});
  return object({{"apiVersion", scalar()},
                 {"kind", scalar()},
                 {"metadata", metadata()},
                 {"spec", std::move(spec)},
                 {"status", std::move(status)}});
}

// Objects and lists nested `levels` deep.
inline Json nested(std::size_t levels) {
  Json value = 1;
  for (std::size_t i = 0; i < levels; ++i) {
    Json outer = Json::object();
    outer["a"] = std::move(value);
    value = std::move(outer);
  }
  return value;
}

}  // namespace amdahl::local::test

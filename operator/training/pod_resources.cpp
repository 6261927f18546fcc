#include "operator/training/pod_resources.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json_member.hpp"
#include "operator/api/names.hpp"
#include "operator/training/diagnose/pending_room.hpp"

namespace amdahl::training {
namespace {

using Amounts = std::map<std::string, kube::Quantity>;

kube::Quantity amount_of(const Json& value) {
  if (value.is_number_integer()) return kube::Quantity::from_integer(value.get<std::int64_t>());
  if (!value.is_string()) return {};
  return kube::Quantity::parse(value.get<std::string>()).value_or(kube::Quantity{});
}

Amounts requests_of(const Json& container) {
  Amounts amounts;
  const Json& resources = member_of(container, "resources");
  for (const char* kind : {"limits", "requests"})  // a request wins over the limit
    if (const Json& list = member_of(resources, kind); list.is_object())
      for (const auto& [name, value] : list.items()) amounts[name] = amount_of(value);
  return amounts;
}

const Json& containers_of(const Json& pod_template, const char* which = "containers") {
  return member_of(member_of(pod_template, "spec"), which);
}

}  // namespace

const Json* trainer_of(const Json& pod_template) {
  const Json& containers = containers_of(pod_template);
  if (!containers.is_array() || containers.empty()) return nullptr;
  for (const Json& container : containers)
    if (member_of(container, "name") == api::kTrainerContainer) return &container;
  return containers.size() == 1 && containers[0].is_object() ? &containers[0] : nullptr;
}

std::int64_t gpus_of(const Json& container) {
  std::int64_t gpus = 0;
  const Json& limits = member_of(member_of(container, "resources"), "limits");
  if (!limits.is_object()) return 0;
  for (const auto& [name, value] : limits.items())
    if (name.ends_with("/gpu"))
      gpus += std::clamp<std::int64_t>(amount_of(value).value(), 0, kPodGpusMax);
  return std::min(gpus, kPodGpusMax);
}

std::int64_t pod_gpus(const Json& pod_template) {
  std::int64_t gpus = 0;
  const Json& containers = containers_of(pod_template);
  if (!containers.is_array()) return 0;
  for (const Json& container : containers) gpus += gpus_of(container);
  return std::min(gpus, kPodGpusMax);
}

std::string memory_limit(const Json& pod_template) {
  const Json* const trainer = trainer_of(pod_template);
  if (trainer == nullptr) return {};
  const kube::Quantity limit =
      amount_of(member_of(member_of(member_of(*trainer, "resources"), "limits"), "memory"));
  return limit > kube::Quantity{} ? limit.to_string() : std::string();
}

Amounts pod_requests(const Json& pod_template, std::int32_t pods) {
  Amounts one;
  if (const Json& containers = containers_of(pod_template); containers.is_array())
    for (const Json& container : containers)
      for (const auto& [name, amount] : requests_of(container)) one[name] += amount;
  // Init containers run before the others, one at a time.
  if (const Json& before = containers_of(pod_template, "initContainers"); before.is_array())
    for (const Json& container : before)
      for (const auto& [name, amount] : requests_of(container))
        one[name] = std::max(one[name], amount);
  return multiply(one, pods);
}

}  // namespace amdahl::training

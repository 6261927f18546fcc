#include "tests/simulation/copies.hpp"

#include <charconv>

namespace amdahl::simulation {
namespace {

std::string child_of(const kube::ConfigMap& owner, std::string_view role) {
  return controller::child_name(owner.metadata.name, {.role = role});
}

Json child(const kube::ConfigMap& owner, std::string name) {
  return {{"metadata", {{"name", std::move(name)}}}, {"data", encode(owner.data)}};
}

}  // namespace

Task<Result<Outcome>> Replace::reconcile(kube::ObjectKey key, controller::Reconcile context) {
  const Maps::Ptr owner = maps_.find(key);
  if (!owner || owner->metadata.labels.find("replace") != "yes") co_return Outcome{};
  if (owner->metadata.deleted) co_return Outcome{};
  const std::string name = child_of(*owner, "copy");
  const Maps::Ptr copy = maps_.find({.ns = key.ns, .name = name});
  if (!copy) {
    CO_TRY(co_await context.writer.create_child(kube::kConfigMaps, child(*owner, name),
                                                controller::owner_object(*owner)));
  } else if (copy->data != owner->data && !copy->metadata.deleted) {
    CO_TRY(co_await context.writer.delete_child(
        {.resource = kube::kConfigMaps, .key = copy->metadata.key(), .uid = copy->metadata.uid}));
  }
  co_return Outcome{};
}

Task<Result<Outcome>> Counted::reconcile(kube::ObjectKey key, controller::Reconcile context) {
  const Maps::Ptr owner = maps_.find(key);
  const auto wanted = owner ? owner->metadata.labels.find("copies") : std::nullopt;
  if (!wanted || owner->metadata.deleted) co_return Outcome{};
  std::size_t count = 0;
  std::from_chars(wanted->data(), wanted->data() + wanted->size(), count);
  std::vector<Maps::Ptr> copies;
  maps_.for_each([&](const Maps::Ptr& map) {
    const auto by = controller::controller_of(*map);
    if (by && by->uid == owner->metadata.uid) copies.push_back(map);
  });
  for (std::size_t i = copies.size(); i < count; ++i)
    CO_TRY(co_await context.writer.create_child(
        kube::kConfigMaps, child(*owner, child_of(*owner, "copy") + "-" + rng_.suffix(8)),
        controller::owner_object(*owner)));
  for (std::size_t i = count; i < copies.size(); ++i)
    CO_TRY(co_await context.writer.delete_child({.resource = kube::kConfigMaps,
                                                 .key = copies[i]->metadata.key(),
                                                 .uid = copies[i]->metadata.uid}));
  co_return Outcome{};
}

Task<Result<Outcome>> Adopter::reconcile(kube::ObjectKey key, controller::Reconcile context) {
  const Maps::Ptr owner = maps_.find(key);
  if (!owner || owner->metadata.labels.find("mirror") != "yes") co_return Outcome{};
  const std::string name = child_of(*owner, "mirror");
  const Maps::Ptr mirror = maps_.find({.ns = key.ns, .name = name});
  if (!mirror && !owner->metadata.deleted) {
    CO_TRY(co_await context.writer.create_child(kube::kConfigMaps, child(*owner, name),
                                                controller::owner_object(*owner)));
  } else if (mirror && mirror->data != owner->data) {
    const Json change{{"data", controller::merge_diff(encode(mirror->data), encode(owner->data))}};
    CO_TRY(co_await context.writer.patch(kube::kConfigMaps, mirror->metadata.key(),
                                         mirror->metadata.version, change));
  }
  co_return Outcome{};
}

}  // namespace amdahl::simulation

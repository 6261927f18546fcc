#include "local/apiserver/patch/ownership.hpp"

namespace amdahl::local {

const Json& managed_fields_of(const Json& object) {
  static const Json none;
  const auto metadata = object.find("metadata");
  if (metadata == object.end() || !metadata->is_object()) return none;
  const auto found = metadata->find("managedFields");
  return found == metadata->end() ? none : *found;
}

Json without_managed_fields(Json object) {
  const auto metadata = object.find("metadata");
  if (metadata != object.end() && metadata->is_object()) metadata->erase("managedFields");
  return object;
}

void set_managed_fields(Json& object, Json list) {
  if (list.empty()) {
    object = without_managed_fields(std::move(object));
    return;
  }
  Json& metadata = object["metadata"];
  if (!metadata.is_object()) metadata = Json::object();
  metadata["managedFields"] = std::move(list);
}

const FieldSet& unowned_fields() {
  static const FieldSet fields = FieldSet::of({{"apiVersion"},
                                               {"kind"},
                                               {"metadata"},
                                               {"metadata", "name"},
                                               {"metadata", "namespace"},
                                               {"metadata", "creationTimestamp"},
                                               {"metadata", "selfLink"},
                                               {"metadata", "uid"},
                                               {"metadata", "clusterName"},
                                               {"metadata", "generation"},
                                               {"metadata", "managedFields"},
                                               {"metadata", "resourceVersion"}});
  return fields;
}

const FieldSet& managed_fields_tree() {
  static const FieldSet fields = FieldSet::of({{"metadata", "managedFields"}});
  return fields;
}

FieldComparison owned_difference(const FieldRules& rules, const Json& before, const Json& after) {
  FieldComparison difference = compared(&before, &after, rules.shape);
  difference.ignore(rules.reset_fields);
  difference.ignore(managed_fields_tree());
  return difference;
}

FieldManager manager_of(const FieldWriter& writer, WriteOperation operation) {
  return {.name = writer.manager.empty() ? "unknown" : writer.manager,
          .operation = operation,
          .api_version = writer.api_version,
          .subresource = writer.subresource};
}

void drop_other_groups(ManagedFields& entries, const FieldWriter& writer) {
  const auto group_of = [](std::string_view api_version) {
    const std::size_t slash = api_version.find('/');
    return slash == std::string_view::npos ? std::string_view() : api_version.substr(0, slash);
  };
  std::erase_if(entries, [&](const ManagedEntry& entry) {
    return group_of(entry.manager.api_version) != group_of(writer.api_version);
  });
}

void take_fields(ManagedFields& entries, const FieldComparison& difference,
                 const FieldManager* except) {
  if (entries.empty()) return;
  FieldSet taken = difference.changed();
  taken.add(difference.removed);
  for (ManagedEntry& entry : entries)
    if (except == nullptr || !entry.manager.same_entry(*except)) entry.fields.remove(taken);
}

void give_fields(ManagedFields& entries, const FieldWriter& writer, FieldSet fields) {
  fields.remove(unowned_fields());
  if (fields.empty()) return;
  const FieldManager manager = manager_of(writer, WriteOperation::kUpdate);
  ManagedEntry* entry = find_entry(entries, manager);
  if (entry == nullptr) entry = &entries.emplace_back(ManagedEntry{.manager = manager});
  entry->fields.add(std::move(fields));
  entry->time = writer.now;
}

}  // namespace amdahl::local

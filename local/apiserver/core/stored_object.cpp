#include "local/apiserver/core/stored_object.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "base/json_dump.hpp"
#include "base/json_load.hpp"
#include "local/apiserver/core/metadata.hpp"

namespace amdahl::local {
namespace {

PackedMap packed_labels(const Json& meta) {
  PackedMap::Builder builder;
  const auto found = meta.find("labels");
  if (found == meta.end() || !found->is_object()) return {};
  for (const auto& [key, value] : found->items())
    if (value.is_string()) builder.add(key, value.get_ref<const std::string&>());
  return builder.build();
}

std::vector<OwnerRef> owners_of(const Json& meta) {
  std::vector<OwnerRef> owners;
  const auto found = meta.find("ownerReferences");
  if (found == meta.end() || !found->is_array()) return owners;
  owners.reserve(found->size());
  for (const Json& one : *found) {
    const auto block = one.find("blockOwnerDeletion");
    owners.push_back({.uid = text_at(one, "uid"),
                      .api_version = text_at(one, "apiVersion"),
                      .kind = text_at(one, "kind"),
                      .name = text_at(one, "name"),
                      .blocks = block != one.end() && block->is_boolean() && block->get<bool>()});
  }
  return owners;
}

}  // namespace

std::string_view StoredObject::ns() const {
  const std::size_t slash = key.find('/');
  return slash == std::string::npos ? std::string_view() : std::string_view(key).substr(0, slash);
}

std::string_view StoredObject::name() const {
  const std::size_t slash = key.find('/');
  return slash == std::string::npos ? std::string_view(key)
                                    : std::string_view(key).substr(slash + 1);
}

std::size_t StoredObject::bytes() const {
  return sizeof(StoredObject) + text.size() + key.size() + labels.heap_bytes() +
         fields.heap_bytes() + owners.size() * sizeof(OwnerRef);
}

std::string object_key(std::string_view ns, std::string_view name) {
  std::string key(ns);
  if (!ns.empty()) key += '/';
  return key += name;
}

ObjectPtr make_object(Json object, std::uint64_t version, PackedMap fields) {
  Json& meta = metadata_of(object);
  if (version == 0)
    meta.erase("resourceVersion");
  else
    meta["resourceVersion"] = std::to_string(version);
  return restored_object(object, json_text(object), version, std::move(fields));
}

ObjectPtr restored_object(const Json& object, std::string text, std::uint64_t version,
                          PackedMap fields) {
  auto stored = std::make_shared<StoredObject>();
  const Json& meta = metadata_of(object);
  stored->key = object_key(text_at(meta, "namespace"), text_at(meta, "name"));
  stored->uid = text_at(meta, "uid");
  stored->version = version;
  stored->labels = packed_labels(meta);
  stored->fields = std::move(fields);
  stored->owners = owners_of(meta);
  stored->deleting = meta.contains("deletionTimestamp");
  const std::vector<std::string> finalizers = finalizers_of(meta);
  stored->finalizers = !finalizers.empty();
  stored->foreground = std::ranges::find(finalizers, kFinalizerForeground) != finalizers.end();
  stored->orphan = std::ranges::find(finalizers, kFinalizerOrphan) != finalizers.end();
  stored->text = std::move(text);
  return stored;
}

ObjectPtr with_version(const StoredObject& object, std::uint64_t version) {
  return make_object(parsed(object), version, object.fields);
}

Json parsed(const StoredObject& object) {
  if (auto loaded = load_json(object.text)) {
    AMDAHL_CHECK(loaded->is_object());
    return *std::move(loaded);
  }
  Json json = Json::parse(object.text, nullptr, false);
  AMDAHL_CHECK(json.is_object());
  return json;
}

std::string json_text(const Json& json) {
  return dump_json(json);
}

}  // namespace amdahl::local

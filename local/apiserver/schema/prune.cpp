#include "local/apiserver/schema/prune.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace amdahl::local {
namespace {

bool is_type_meta(std::string_view key) {
  return key == "apiVersion" || key == "kind" || key == "metadata";
}

class Pruner {
 public:
  std::vector<std::string> dropped = {};

  // `schema` may be null: nothing is known, so every field goes. Unless `keep`: then all stay, and
  // only what the schema describes is looked into.
  void value(Json& json, const Schema* schema, bool resource, bool keep, int depth) {
    if (depth > kObjectDepthMax) return;  // validate() refuses it
    keep = keep || (schema != nullptr && schema->preserve_unknown);
    if (json.is_object()) {
      object(json, schema, resource, keep, depth);
    } else if (json.is_array()) {
      const Schema* items = schema == nullptr ? nullptr : schema->items.get();
      if (items == nullptr && keep) return;
      for (std::size_t i = 0; i < json.size(); ++i) {
        const std::size_t length = path_.size();
        fmt::format_to(std::back_inserter(path_), "[{}]", i);
        value(json[i], items, items != nullptr && items->embedded_resource, keep, depth + 1);
        path_.resize(length);
      }
    }
  }

 private:
  void object(Json& json, const Schema* schema, bool resource, bool keep, int depth) {
    for (auto at = json.begin(); at != json.end();) {
      if (resource && is_type_meta(at.key())) {
        if (at.key() == "metadata") meta(at.value());
      } else if (describes(schema, at.key())) {
        descend(at.value(), at.key(), schema->child(at.key()), depth);
      } else if (!keep) {
        if (dropped.size() < kDroppedPathsMax) dropped.push_back(joined(at.key()));
        at = json.erase(at);
        continue;
      }
      ++at;
    }
  }

  static bool describes(const Schema* schema, std::string_view key) {
    if (schema == nullptr) return false;
    return schema->other_keys != OtherKeys::kUndeclared || schema->properties.contains(key);
  }

  void descend(Json& json, std::string_view key, const Schema* child, int depth) {
    if (!json.is_structured()) return;
    const std::size_t length = path_.size();
    path_ = joined(key);
    value(json, child, child != nullptr && child->embedded_resource, false, depth + 1);
    path_.resize(length);
  }

  void meta(Json& json) { prune_object_meta(json, joined("metadata"), dropped); }

  std::string joined(std::string_view key) const {
    return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
  }

  std::string path_ = {};
};

}  // namespace

std::vector<std::string> prune(const Schema& schema, Json& object, bool resource_root) {
  Pruner pruner;
  pruner.value(object, &schema, resource_root || schema.embedded_resource, false, 0);
  std::ranges::sort(pruner.dropped);
  return std::move(pruner.dropped);
}

}  // namespace amdahl::local

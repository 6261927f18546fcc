#include <algorithm>
#include <set>

#include "local/apiserver/schema/schema.hpp"
#include "local/apiserver/schema/schema_keywords.hpp"
#include "local/apiserver/schema/schema_read.hpp"

namespace amdahl::local {
namespace {

SchemaPtr anything() {
  auto node = std::make_shared<Schema>();
  node->preserve_unknown = true;
  return node;
}

class BuiltinReader {
 public:
  explicit BuiltinReader(const RefResolver& resolve) : resolve_(resolve) {}

  SchemaPtr node(const Json& schema, int depth) {
    if (depth > kSchemaDepthMax || !schema.is_object()) return anything();
    if (const std::string_view ref = ref_of(schema); !ref.empty()) {
      return with_own_words(referred(ref, depth), schema);
    }
    auto read = std::make_shared<Schema>();
    read_plain_keywords(schema, *read);
    read_extensions(schema, *read);
    for (const auto& [key, field] : fields_of(schema, "properties").items()) {
      read->properties.emplace(key, node(field, depth + 1));
    }
    if (const Json* items = item_schema_of(schema)) read->items = node(*items, depth + 1);
    if (const Json* other = other_schema_of(schema)) read->other = node(*other, depth + 1);
    if (read->type == SchemaType::kObject && read->properties.empty() &&
        read->other_keys == OtherKeys::kUndeclared) {
      read->preserve_unknown = true;  // RawExtension, FieldsV1: an object nobody describes
    }
    if (read->type == SchemaType::kNone && !read->int_or_string) read->preserve_unknown = true;
    note_what_is_inside(*read);
    return read;
  }

 private:
  // {"$ref": ...}, or {"allOf": [{"$ref": ...}], "default": ...}, as OpenAPI v3 has to write it.
  static std::string_view ref_of(const Json& schema) {
    const std::string_view plain = text_of(schema, "$ref");
    const Json& all = nodes_of(schema, "allOf");
    return plain.empty() && all.size() == 1 ? text_of(all[0], "$ref") : plain;
  }

  SchemaPtr referred(std::string_view ref, int depth) {
    const std::string name(ref);
    if (const auto done = done_.find(name); done != done_.end()) return done->second;
    const Json* schema = resolve_ ? resolve_(ref) : nullptr;
    if (schema == nullptr || !open_.insert(name).second) return anything();
    SchemaPtr read = node(*schema, depth + 1);
    open_.erase(name);
    done_.emplace(name, read);
    return read;
  }

  static SchemaPtr with_own_words(SchemaPtr referred, const Json& schema) {
    const Json* value = keyword(schema, "default");
    const bool patched = keyword(schema, "x-kubernetes-patch-strategy") != nullptr;
    if (value == nullptr && !patched) return referred;
    auto copy = std::make_shared<Schema>(*referred);
    if (value != nullptr) copy->default_value = *value;
    if (patched) read_extensions(schema, *copy);
    note_what_is_inside(*copy);
    return copy;
  }

  static void read_extensions(const Json& schema, Schema& node) {
    node.int_or_string =
        node.int_or_string || text_of(schema, "format") == "int-or-string" || is_quantity(schema);
    node.patch_merge_key = text_of(schema, "x-kubernetes-patch-merge-key");
    const std::string_view strategy = text_of(schema, "x-kubernetes-patch-strategy");
    node.patch_merge = strategy.find("merge") != std::string_view::npos;
    node.patch_retain_keys = strategy.find("retainKeys") != std::string_view::npos;
  }

  // A quantity may be written as a number: oneOf string, number.
  static bool is_quantity(const Json& schema) {
    const Json& one = nodes_of(schema, "oneOf");
    return one.size() == 2 && text_of(schema, "type").empty() &&
           std::ranges::all_of(one,
                               [](const Json& item) { return !text_of(item, "type").empty(); });
  }

  const RefResolver& resolve_;
  std::map<std::string, SchemaPtr> done_ = {};
  std::set<std::string> open_ = {};
};

}  // namespace

SchemaPtr compile_builtin_schema(const Json& schema, const RefResolver& resolve) {
  if (!nests_within(schema, kSchemaDepthMax * 4)) return anything();
  return BuiltinReader(resolve).node(schema, 0);
}

}  // namespace amdahl::local

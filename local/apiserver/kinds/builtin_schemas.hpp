// The structure of the built-in kinds, from builtin_schemas.json (tools/builtin_openapi.py), which
// is linked into the program.
//
// Parsed by the constructor (a few milliseconds); make one and share it. Immutable afterwards; any
// thread. What it hands out by pointer lives as long as it does. Failure: none; the file is ours.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "local/apiserver/kinds/kind.hpp"
#include "local/apiserver/model/merge_shape.hpp"

namespace amdahl::local {

inline constexpr int kStructureDepthMax = 64;

enum class Primitive : std::uint8_t {
  kAny,
  kStruct,  // an object with known names
  kMap,     // an object with any names
  kList,
  kString,
  kInt32,
  kInt64,
  kFloat,
  kBool,
  kBytes,  // base64
  kQuantity,
  kTime,
  kMicroTime,
  kIntOrString,
};

struct TypeNode;

struct FieldType {
  std::string name = {};
  const TypeNode* type = nullptr;
  bool keep_zero = false;     // 0, false and "" are not the same as absent
  bool has_absent = false;    // when absent, `absent` is written
  bool struct_value = false;  // when absent, an object with what is always written is written
  Json absent = nullptr;

  // Storage keeps no empty lists, and this one is always written: as null.
  bool forgets_empty() const;
};

// One type of the API; nodes refer to each other and may form circles.
struct TypeNode {
  Primitive primitive = Primitive::kAny;
  std::string go_name = {};  // "v1.PodSpec", "[]v1.Container", "int32": for error messages
  std::vector<FieldType> fields = {};  // of kStruct, by name
  const TypeNode* item = nullptr;      // of kList and kMap
  bool forgetful = false;              // it, or something in it, reads back null when empty

  const FieldType* field(std::string_view name) const;
};

class BuiltinSchemas {
 public:
  BuiltinSchemas();
  BuiltinSchemas(const BuiltinSchemas&) = delete;
  BuiltinSchemas& operator=(const BuiltinSchemas&) = delete;

  // The name of a kind's schema ("io.k8s.api.core.v1.Pod"); "" when there is none.
  std::string_view name(std::string_view group, std::string_view version,
                        std::string_view kind) const;
  const Json* named(std::string_view name) const;
  // Schemas refer to each other by {"$ref": "<name>"} with other keys beside it.
  const std::map<std::string, Json, std::less<>>& all() const { return schemas_; }

  // Null when the kind is not known.
  const TypeNode* type(std::string_view group, std::string_view version,
                       std::string_view kind) const;
  // How patches of the kind merge; null (untyped) when the kind is not known.
  MergeShapePtr merge_shape(const Kind& kind) const;
  // The schema with every reference replaced; where one would repeat itself inside itself, a plain
  // object. Null when the kind is not known.
  Json resolved_schema(const Kind& kind) const;

 private:
  const TypeNode* compile(const Json& schema);
  const TypeNode* compile_named(const std::string& name);
  void compile_struct(TypeNode& node, const Json& schema);
  void mark_forgetful();

  std::map<std::string, Json, std::less<>> schemas_;
  std::map<std::string, std::string, std::less<>> names_;  // "group/version/kind" -> name
  std::map<std::string, const TypeNode*, std::less<>> types_;
  std::deque<TypeNode> nodes_;
  std::map<std::string, MergeShapePtr, std::less<>> shapes_;  // by schema name, of whole kinds
};

}  // namespace amdahl::local

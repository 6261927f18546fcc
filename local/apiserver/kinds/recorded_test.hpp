// What kube-apiserver 1.34.4 answered, recorded in testdata/, for the tests of this folder.
#pragma once

#include <catch2/catch.hpp>
#include <fstream>
#include <string>

#include "local/apiserver/kinds/builtin_defaults.hpp"
#include "local/apiserver/kinds/builtin_rules.hpp"
#include "local/apiserver/kinds/builtin_schemas.hpp"
#include "local/apiserver/kinds/decode.hpp"
#include "local/apiserver/kinds/kind.hpp"

namespace amdahl::local {

inline Json recorded(const std::string& name) {
  std::ifstream file("local/apiserver/kinds/testdata/" + name);
  Json data = Json::parse(file, nullptr, false);
  REQUIRE_FALSE(data.is_discarded());
  return data;
}

inline KindTable recorded_kinds() {
  KindTable table;
  for (const Json& crd : recorded("discovery.json").at("crds")) REQUIRE(table.put_crd(crd));
  return table;
}

// The kind of a path of a collection: "/apis/apps/v1/namespaces/default/deployments".
inline KindPtr kind_at(const KindTable& table, const std::string& path) {
  const bool is_core = path.starts_with("/api/");
  const std::string rest = path.substr(is_core ? 5 : 6);
  const std::string group = is_core ? "" : rest.substr(0, rest.find('/'));
  return table.find(group, is_core ? "v1" : rest.substr(group.size() + 1, 2),
                    path.substr(path.rfind('/') + 1));
}

// Reads a body as the server does before it decides anything.
inline Json read_body(const BuiltinSchemas& schemas, const Kind& kind, Json body) {
  body["kind"] = kind.kind;
  body["apiVersion"] = kind.api_version();
  if (!kind.builtin) return body;
  const TypeNode* type = schemas.type(kind.group, kind.version, kind.kind);
  REQUIRE(type != nullptr);
  auto decoded = decode(*type, std::move(body));
  REQUIRE(decoded);
  apply_defaults(kind, decoded->object);
  return decoded->object;
}

}  // namespace amdahl::local

#include "local/apiserver/core/restore.hpp"

#include <catch2/catch.hpp>

#include "local/apiserver/core/test_kind_rules.hpp"

namespace amdahl::local {
namespace {

constexpr std::string_view kText =
    R"({"apiVersion":"v1","data":{"managedFields":"kept"},"kind":"ConfigMap","metadata":)"
    R"({"finalizers":["a/b"],"labels":{"managedFields":"label","x":"y"},"managedFields":)"
    R"([{"fieldsV1":{"f:data":{".":{},"f:k":{}}},"manager":"m","n":[1,null,true,1.5,[]]}],)"
    R"("name":"one","namespace":"default","resourceVersion":"7","uid":"u-1"}})";

TEST_CASE("restore keeps the text as it was, and knows what selection needs") {
  const TestKindRules rules;
  Restored from{.storage = "configmaps", .text = std::string(kText)};
  const auto object = restore(rules, from);
  REQUIRE(object);
  CHECK((*object)->text == kText);
  CHECK((*object)->key == "default/one");
  CHECK((*object)->uid == "u-1");
  CHECK((*object)->version == 7);
  CHECK((*object)->labels.find("managedFields") == "label");
  CHECK((*object)->labels.find("x") == "y");
  CHECK((*object)->finalizers);
}

TEST_CASE("restore skips managedFields of any form") {
  const TestKindRules rules;
  for (const std::string_view value : {"null", "[]", "[{}]", R"([{"a":{"b":[{}]}}])"}) {
    Restored from{.storage = "configmaps"};
    from.text = R"({"metadata":{"managedFields":)" + std::string(value) +
                R"(,"name":"one","resourceVersion":"7","uid":"u-1"},"z":1})";
    const auto object = restore(rules, from);
    INFO(value);
    REQUIRE(object);
    CHECK((*object)->name() == "one");
  }
}

TEST_CASE("restore refuses what no server of ours has written") {
  const TestKindRules rules;
  for (const std::string_view text :
       {"", "{", "[]", "null", R"({"metadata":[]})", R"({"metadata":{"name":"one","uid":"u"}})",
        R"({"metadata":{"managedFields":[{]}})", R"({"metadata":{"managedFields":[)"}) {
    Restored from{.storage = "configmaps", .text = std::string(text)};
    const auto object = restore(rules, from);
    INFO(text);
    REQUIRE_FALSE(object);
    CHECK(object.error().code == Errc::kCorrupt);
    CHECK(object.error().context.starts_with("load configmaps: "));
  }
}

}  // namespace
}  // namespace amdahl::local

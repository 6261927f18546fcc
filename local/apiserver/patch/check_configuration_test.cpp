#include <catch2/catch.hpp>

#include "local/apiserver/patch/test_objects.hpp"
#include "local/apiserver/patch/test_shapes.hpp"

namespace amdahl::local {

TEST_CASE("Apply refuses fields that the kind does not declare") {
  const auto closed = [](test::Fields fields, MergeKind kind = MergeKind::kObject) {
    auto shape = std::make_shared<MergeShape>(*test::object(fields));
    shape->kind = kind;
    shape->closed = true;
    return shape;
  };
  const auto typed = [](ScalarType type) {
    return std::make_shared<MergeShape>(MergeShape{.kind = MergeKind::kScalar, .scalar = type});
  };
  auto list = std::make_shared<MergeShape>(MergeShape{.kind = MergeKind::kAtomic, .list = true});
  list->item = closed({{"name", test::scalar()}});
  const auto spec = closed({{"size", typed(ScalarType::kNumber)},
                            {"color", typed(ScalarType::kText)},
                            {"locked", typed(ScalarType::kFlag)},
                            {"one", closed({{"name", test::scalar()}}, MergeKind::kAtomic)},
                            {"list", std::move(list)},
                            {"map", test::map_of(typed(ScalarType::kText))}});
  test::Stored stored(test::object({{"spec", spec}}));
  const std::pair<const char*, const char*> rows[] = {
      {R"({"spec":{"odd":1}})", ".spec.odd: field not declared in schema"},
      {R"({"spec":{"odd":null}})", ".spec.odd: field not declared in schema"},
      {R"({"spec":{"one":{"odd":1}}})", ".spec.one.odd: field not declared in schema"},
      {R"({"spec":{"one":[]}})", ".spec.one: expected map, got array"},
      {R"({"spec":{"list":[{"name":1},{"odd":1}]}})",
       ".spec.list[1].odd: field not declared in schema"},
      {R"({"spec":{"list":{}}})", ".spec.list: expected list, got object"},
      {R"({"spec":{"map":{"any":1}}})", ".spec.map.any: expected string, got number"},
      {R"({"spec":{"size":"two"}})", ".spec.size: expected numeric (int or float), got string"},
      {R"({"spec":{"size":"two","locked":1}})",
       "errors:\n  .spec.locked: expected boolean, got number\n  .spec.size: expected numeric (int "
       "or float), got string"},
      {R"({"spec":{"locked":"yes"}})", ".spec.locked: expected boolean, got string"},
  };
  for (const auto& [body, text] : rows)
    CHECK_THAT(stored.refusal("a", body), Catch::EndsWith(text));
  stored.apply("a", R"({"spec":{"size":2.5,"color":"red","locked":true,"one":{"name":"x"},
                                "list":[{"name":1}],"map":{"any":"x"}}})");
}

}  // namespace amdahl::local

#include "local/apiserver/patch/created_fields.hpp"

#include <array>
#include <catch2/catch.hpp>

#include "base/rng.hpp"
#include "local/apiserver/patch/ownership.hpp"
#include "local/apiserver/patch/test_shapes.hpp"

namespace amdahl::local {
namespace {

// What an update does, which compares first and sorts out afterwards.
Json compared_fields(const FieldRules& rules, const Json& created) {
  static const Json nothing = Json::object();
  const Json& unset = rules.unset != nullptr ? *rules.unset : nothing;
  FieldComparison difference = owned_difference(rules, unset, created);
  difference.modified.add(std::move(difference.added));
  difference.modified.remove(unowned_fields());
  return difference.modified.to_fields_v1();
}

constexpr std::array<std::string_view, 22> kNames = {
    "apiVersion", "containerPort", "containers", "creationTimestamp",
    "env",        "finalizers",    "image",      "kind",
    "labels",     "managedFields", "metadata",   "name",
    "ports",      "protocol",      "replicas",   "rollingUpdate",
    "spec",       "status",        "strategy",   "template",
    "value",      "volumes"};

// NOLINTNEXTLINE(misc-no-recursion): at most `depth` deep
Json random_value(Rng& rng, int depth) {
  switch (rng.below(depth > 0 ? 8 : 3)) {
    case 0:
      return nullptr;
    case 1:
      return rng.below(2);
    case 2:
      return rng.below(2) == 0 ? "a" : "b";
    case 3:
    case 4: {
      Json list = Json::array();
      for (std::uint64_t left = rng.below(4); left > 0; --left)
        list.push_back(random_value(rng, depth - 1));
      return list;
    }
    default: {
      Json object = Json::object();
      for (std::uint64_t left = rng.below(6); left > 0; --left)
        object[std::string(kNames[rng.below(kNames.size())])] = random_value(rng, depth - 1);
      return object;
    }
  }
}

Json random_object(Rng& rng, int depth) {
  Json object = Json::object();
  for (const std::string_view name : {"metadata", "spec", "status"})
    if (rng.below(4) != 0) object[std::string(name)] = random_value(rng, depth);
  if (rng.below(2) == 0) object["kind"] = "Thing";
  return object;
}

TEST_CASE("The fields of a new object are those that differ from an unset one") {
  Rng rng(20261117);
  const MergeShapePtr shape = test::deployment();
  const std::array resets = {FieldSet(), FieldSet::of({{"status"}}),
                             FieldSet::of({{"spec"}, {"metadata", "labels"}})};
  std::size_t owned = 0;
  for (int number = 0; number < 20'000; ++number) {
    const Json unset = random_object(rng, static_cast<int>(rng.below(5)));
    const Json created = random_object(rng, 7);
    const FieldRules rules{.shape = rng.below(4) == 0 ? nullptr : shape.get(),
                           .reset_fields = resets[rng.below(resets.size())],
                           .unset = rng.below(4) == 0 ? nullptr : &unset};
    INFO(unset.dump() << " -> " << created.dump());
    const Json fields = created_fields(rules, created);
    REQUIRE(fields == compared_fields(rules, created));
    owned += fields.size();
  }
  CHECK(owned > 10'000);
}

}  // namespace
}  // namespace amdahl::local

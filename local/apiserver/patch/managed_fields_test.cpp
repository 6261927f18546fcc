#include "local/apiserver/patch/managed_fields.hpp"

#include <catch2/catch.hpp>

namespace amdahl::local {
namespace {

ManagedEntry updater(const std::string& name, int seconds, const std::string& version = "v1") {
  return {.manager = {.name = name, .api_version = version},
          .time = WallTime{std::chrono::seconds{seconds}},
          .fields = FieldSet::of({{name}})};
}

}  // namespace

TEST_CASE("managedFields survive decoding and encoding") {
  const Json list = Json::parse(R"([
      {"manager":"deployer","operation":"Apply","apiVersion":"apps/v1",
       "time":"2026-11-16T08:00:00Z","fieldsType":"FieldsV1",
       "fieldsV1":{"f:spec":{"f:replicas":{}}}},
      {"manager":"kubelet","operation":"Update","apiVersion":"v1","subresource":"status",
       "time":"2026-11-16T07:00:00Z","fieldsType":"FieldsV1",
       "fieldsV1":{"f:status":{"f:phase":{}}}}])");
  const auto entries = decode_managed_fields(list);
  REQUIRE(entries.has_value());
  REQUIRE(entries->size() == 2);
  CHECK(entries->at(0).manager.operation == WriteOperation::kApply);
  CHECK(entries->at(1).manager.subresource == "status");
  CHECK(entries->at(1).fields == FieldSet::of({{"status", "phase"}}));
  CHECK(encode_managed_fields(*entries) == list);
}

TEST_CASE("managedFields refuse entries that make no sense") {
  struct Row {
    const char* list;
    const char* text;
  };
  const Row rows[] = {
      {R"({})", "managedFields is not a list"},
      {R"([1])", "entry is not an object"},
      {R"([{"operation":"Replace","apiVersion":"v1","fieldsType":"FieldsV1"}])",
       "operation must be `Apply` or `Update`"},
      {R"([{"operation":"Apply","fieldsType":"FieldsV1"}])", "apiVersion must not be empty"},
      {R"([{"operation":"Apply","apiVersion":"v1"}])",
       "missing fieldsType in managed fields entry 0"},
      {R"([{"operation":"Apply","apiVersion":"v1","fieldsType":"V2"}])",
       "invalid fieldsType \"V2\" in managed fields entry 0"},
      {R"([{"operation":"Apply","apiVersion":"v1","fieldsType":"FieldsV1","manager":1}])",
       "manager is not a string"},
      {R"([{"operation":"Apply","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"x":{}}}])",
       "parsing key as path element"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.list);
    const auto entries = decode_managed_fields(Json::parse(row.list));
    REQUIRE_FALSE(entries.has_value());
    CHECK_THAT(entries.error().context, Catch::Contains(row.text));
  }
  Json many = Json::array();
  for (std::size_t i = 0; i <= kManagedEntriesMax; ++i) many.push_back(Json::object());
  const auto refused = decode_managed_fields(many);
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().code == Errc::kTooLarge);
}

TEST_CASE("managedFields keep one entry a manager") {
  const FieldManager applier{.name = "a", .operation = WriteOperation::kApply, .api_version = "v1"};
  FieldManager other = applier;
  other.api_version = "v2";
  CHECK(applier.same_entry(other));
  other.operation = WriteOperation::kUpdate;
  CHECK_FALSE(applier.same_entry(other));
  FieldManager older = other;
  older.api_version = "v1";
  CHECK_FALSE(other.same_entry(older));
  older = other;
  older.subresource = "status";
  CHECK_FALSE(other.same_entry(older));
}

TEST_CASE("managedFields name a manager as kube-apiserver does") {
  FieldManager manager{.name = "kubectl", .api_version = "apps/v1"};
  CHECK(shown_manager(manager) == R"("kubectl" using apps/v1)");
  manager.subresource = "status";
  CHECK(shown_manager(manager) == R"("kubectl" with subresource "status" using apps/v1)");
  manager = {.name = "deployer", .operation = WriteOperation::kApply, .api_version = "apps/v1"};
  CHECK(shown_manager(manager) == R"("deployer")");
}

TEST_CASE("managedFields merge the oldest updaters into one") {
  ManagedFields entries;
  for (int i = 0; i < 12; ++i) entries.push_back(updater(fmt::format("m{:02}", i), 100 + i));
  entries.push_back(updater("applier", 1));
  entries.back().manager.operation = WriteOperation::kApply;
  cap_updaters(entries);
  REQUIRE(entries.size() == kUpdateManagersMax + 1);
  const FieldManager ancient{.name = std::string(kAncientManager), .api_version = "v1"};
  const ManagedEntry* const bucket = find_entry(entries, ancient);
  REQUIRE(bucket != nullptr);
  CHECK(bucket->fields == FieldSet::of({{"m00"}, {"m01"}, {"m02"}}));
  CHECK(bucket->time == WallTime{std::chrono::seconds{102}});
  // Once more: the bucket that is there is used, though another entry is older.
  entries.push_back(updater("older", 50));
  cap_updaters(entries);
  REQUIRE(entries.size() == kUpdateManagersMax + 1);
  REQUIRE(find_entry(entries, ancient) != nullptr);
  CHECK(find_entry(entries, ancient)->fields ==
        FieldSet::of({{"m00"}, {"m01"}, {"m02"}, {"older"}}));
}

TEST_CASE("managedFields of different versions share no bucket") {
  ManagedFields entries;
  for (int i = 0; i < 11; ++i)
    entries.push_back(updater(fmt::format("m{:02}", i), 100 + i, fmt::format("v{}", i)));
  cap_updaters(entries);
  CHECK(entries.size() == 11);
}

}  // namespace amdahl::local

// One table, two readers: what the operator refuses, the admission policy refuses, and the other
// way round. The rows of template_samples.json are also fed to a real kube-apiserver
// (tests/operator).
#include "operator/api/template_rules.hpp"

#include <catch2/catch.hpp>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "local/apiserver/schema/cel/check.hpp"
#include "local/apiserver/schema/cel/eval.hpp"
#include "local/apiserver/schema/cel/limits.hpp"
#include "local/apiserver/schema/cel/parser.hpp"
#include "operator/api/training_job_spec.hpp"

namespace amdahl::api {
namespace {

using local::cel::Value;

// Without a schema, as an admission policy sees objects.
Value plain_value(const Json& json) {
  if (json.is_object()) {
    auto map = std::make_shared<local::cel::Map>();
    for (const auto& [key, item] : json.items()) map->emplace_back(Value{key}, plain_value(item));
    return Value{local::cel::MapPtr(map)};
  }
  if (json.is_array()) {
    auto list = std::make_shared<local::cel::List>();
    for (const Json& item : json) list->push_back(plain_value(item));
    return Value{local::cel::ListPtr(list)};
  }
  const auto value = local::cel::value_of(json, nullptr);
  REQUIRE(value);
  return *value;
}

// What the policy says: an error refuses too.
bool policy_allows(const TemplateRule& rule, const Json& spec) {
  const auto schema = local::compile_crd_schema(
      Json::parse(R"({"type": "object", "x-kubernetes-preserve-unknown-fields": true})"), {});
  REQUIRE(schema.schema);
  const std::string source = rule_in_cel(rule, "dyn(self)");
  INFO(source);
  const auto parsed = local::cel::parse(source);
  REQUIRE(parsed);
  const auto checked = local::cel::check(source, *parsed, {.self = *schema.schema});
  INFO((checked ? std::string() : checked.error().context));
  REQUIRE(checked);
  local::cel::Steps steps(local::cel::kRuleStepsMax);
  const auto result =
      local::cel::evaluate(*checked->expr, {.self = plain_value(spec), .old_self = {}}, steps);
  return result && result->as<bool>() != nullptr && *result->as<bool>();
}

TrainingJobSpec typed(const Json& spec) {
  TrainingJobSpec job;
  job.pod_template = spec.at("template");
  if (spec.contains("scheduling"))
    job.scheduling.priority_class = spec["scheduling"].at("priorityClassName");
  return job;
}

Json samples() {
  std::ifstream file("tests/api/template_samples.json");
  REQUIRE(file);
  return Json::parse(file);
}

Json spec_of(const Json& all, const Json& row) {
  Json spec = all["good"];
  spec.merge_patch(row["change"]);
  return spec;
}

TEST_CASE("The operator and the admission policy refuse the same templates", "[A9]") {
  const Json all = samples();
  std::set<std::string> refusing;
  for (const Json& row : all["rows"]) {
    const Json spec = spec_of(all, row);
    CAPTURE(row.dump());
    const auto refusal = template_refusal(typed(spec));
    std::string first;
    for (const TemplateRule& rule : template_rules())
      if (first.empty() && !policy_allows(rule, spec)) first = rule.path;
    CHECK(refusal.has_value() == !first.empty());
    CHECK(refusal.value_or("") == row.value("refused", ""));
    refusing.insert(first);
  }
  for (const TemplateRule& rule : template_rules()) {
    CAPTURE(rule.path);
    CHECK(refusing.contains(std::string(rule.path)));  // each row has a sample
  }
}

}  // namespace
}  // namespace amdahl::api

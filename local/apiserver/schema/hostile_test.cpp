// What nobody writes by accident: none of it may take the process down or keep it busy.
#include <catch2/catch.hpp>

#include "local/apiserver/schema/defaults.hpp"
#include "local/apiserver/schema/prune.hpp"
#include "local/apiserver/schema/training_job_fixture.hpp"
#include "local/apiserver/schema/validate.hpp"

namespace amdahl::local {
namespace {

std::string nested(const std::string& open, const std::string& middle, const std::string& close,
                   int depth) {
  std::string text;
  for (int i = 0; i < depth; ++i) text += open;
  text += middle;
  for (int i = 0; i < depth; ++i) text += close;
  return text;
}

std::vector<std::string> refused(const std::string& schema) {
  return texts(compile_crd_schema(Json::parse(schema), {}).causes);
}

SchemaPtr with_rule(const std::string& rule) {
  return schema_with(R"({"type": "array", "items": {"type": "integer"},
      "x-kubernetes-validations": [{"rule": ")" +
                     rule + "\"}]}");
}

}  // namespace

TEST_CASE("A schema that nests too deeply is refused") {
  for (const int depth : {65, 1'000, 20'000}) {
    CAPTURE(depth);
    const auto causes =
        refused(nested(R"({"type": "array", "items": )", R"({"type": "string"})", "}", depth));
    REQUIRE_FALSE(causes.empty());
    CHECK_THAT(causes[0], Catch::Contains("must not nest deeper than 64"));
  }
  const std::string any = nested(R"({"anyOf": [)", "{}", "]}", 70);
  CHECK_THAT(refused(R"({"type": "object", "not": )" + any + "}").at(0),
             Catch::Contains("must not nest deeper"));
  CHECK_THAT(refused(R"({"type": "object", "default": )" + nested("[", "", "]", 5'000) + "}").at(0),
             Catch::Contains("must not nest deeper"));
}

TEST_CASE("An object that nests too deeply is refused, and left alone before") {
  const SchemaPtr schema =
      schema_with(R"({"type": "object", "x-kubernetes-preserve-unknown-fields": true})");
  Json object = Json::parse(R"({"spec": {"x": {"y": )" + nested("[", "", "]", 20'000) + "}}}");
  CHECK(prune(*schema, object).empty());
  apply_defaults(*schema, object);
  CHECK(texts(validate(*schema, object, nullptr)) ==
        std::vector<std::string>{"<nil>: Forbidden: must not nest deeper than 200"});
  const SchemaPtr closed = schema_with(R"({"type": "object", "additionalProperties": true})");
  CHECK(prune(*closed, object).empty());
}

TEST_CASE("Patterns stay linear, and those that are too large are refused") {
  const SchemaPtr schema = schema_with(R"({"type": "string", "pattern": "^(a+)+(a|aa)+$"})");
  const Json object{{"spec", {{"x", std::string(100'000, 'a') + "b"}}}};
  CHECK(validate(*schema, object, nullptr).size() == 1);
  const std::string bomb = R"({"type": "object", "properties": {"x": {"type": "string",
      "pattern": "((a{1,100}){1,100}){1,100}"}}})";
  CHECK_THAT(refused(bomb).at(0), Catch::Contains("must be a valid regular expression"));
}

TEST_CASE("A huge enum is looked up, not searched") {
  Json values = Json::array();
  for (int i = 0; i < 20'000; ++i) values.push_back("value-" + std::to_string(i));
  const SchemaPtr schema = schema_with(
      Json{{"type", "array"}, {"items", {{"type", "string"}, {"enum", values}}}}.dump());
  const Json object{{"spec", {{"x", values}}}};
  CHECK(validate(*schema, object, nullptr).empty());
}

TEST_CASE("The number of causes is bounded") {
  const SchemaPtr schema = schema_with(R"({"type": "array", "items": {"type": "string"}})");
  const Json object{{"spec", {{"x", std::vector<int>(50'000, 1)}}}};
  CHECK(validate(*schema, object, nullptr).size() == kCausesMax);
}

TEST_CASE("Rules that nest too deeply or are too long are refused") {
  const auto refused_rule = [](const std::string& rule) {
    return compile_crd_schema(
        Json{{"type", "object"}, {"x-kubernetes-validations", {{{"rule", rule}}}}}, {});
  };
  for (const std::string& rule :
       {nested("(", "true", ")", 5'000), std::string(10'000, '!') + "true",
        nested("[", "", "]", 3'000) + " == []",
        "1" + nested("", "+1", "", 0) +
            [] {
              std::string chain;
              for (int i = 0; i < 5'000; ++i) chain += "+1";
              return chain;
            }() +
            " > 0",
        std::string("true ? ") + nested("true ? true : ", "true", "", 1'000) + " : true",
        std::string(20'000, ' ') + "true"}) {
    const auto compiled = refused_rule(rule);
    CAPTURE(rule.substr(0, 20));
    CHECK(compiled.causes.size() == 1);
  }
  std::string flat = "true";
  for (int i = 0; i < 1'000; ++i) flat += " && true";
  CHECK(refused_rule(flat).schema != nullptr);
}

TEST_CASE("Rules that never seem to end do") {
  const SchemaPtr schema = with_rule("self.all(a, self.all(b, self.all(c, a + b + c >= 0)))");
  const Json object{{"spec", {{"x", std::vector<int>(2'000, 1)}}}};
  const auto causes = texts(validate(*schema, object, nullptr));
  REQUIRE(causes.size() == 1);
  CHECK_THAT(causes[0],
             Catch::Contains("no further validation rules will be run due to call cost"));
}

}  // namespace amdahl::local

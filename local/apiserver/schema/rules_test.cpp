#include <catch2/catch.hpp>

#include "local/apiserver/schema/training_job_fixture.hpp"
#include "local/apiserver/schema/validate.hpp"

namespace amdahl::local {
namespace {

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("Rules of a TrainingJob hold between its versions") {
  const SchemaPtr schema = training_job_schema();
  const Json before = training_job();
  Json now = before;
  CHECK(validate(*schema, now, &before).empty());
  CHECK(validate(*schema, now, nullptr).empty());

  SECTION("cancel is final, and its rule names a field and a reason") {
    Json cancelled = before;
    cancelled["spec"]["cancel"] = true;
    CHECK(validate(*schema, cancelled, &before).empty());
    const auto causes = validate(*schema, before, &cancelled);
    CHECK(texts(causes) == Lines{"spec.cancel: Forbidden: cancel cannot be taken back"});
    CHECK(causes.at(0).reason == kCauseForbidden);
  }
  SECTION("runtime is immutable") {
    now["spec"]["runtime"] = "Python";
    CHECK(texts(validate(*schema, now, &before)) ==
          Lines{"spec: Invalid value: \"object\": runtime is immutable"});
    CHECK(validate(*schema, now, nullptr).empty());
  }
  SECTION("the open template is compared as a whole") {
    now["spec"]["template"]["spec"]["containers"].push_back("x");
    CHECK(
        texts(validate(*schema, now, &before)) ==
        Lines{
            "spec: Invalid value: \"object\": failed rule: (has(self.suspend) && self.suspend) || "
            "self.template == oldSelf.template"});
    now["spec"]["suspend"] = true;
    CHECK(validate(*schema, now, &before).empty());
  }
  SECTION("the name is known at the root") {
    now["metadata"]["name"] = std::string(41, 'a');
    CHECK(texts(validate(*schema, now, nullptr)) ==
          Lines{"<nil>: Invalid value: \"object\": name must be at most 40 characters"});
  }
  SECTION("items of a list map meet their own past") {
    Json old = before;
    old["spec"]["volumes"] = Json::parse(
        R"([{"name": "a", "protocol": "TCP", "size": 5}, {"name": "b", "protocol": "TCP", "size": 1}])");
    now["spec"]["volumes"] = Json::parse(
        R"([{"name": "b", "protocol": "TCP", "size": 2}, {"name": "c", "protocol": "TCP", "size": 0},
            {"name": "a", "protocol": "TCP", "size": 4}])");
    CHECK(texts(validate(*schema, now, &old)) ==
          Lines{"spec.volumes[2]: Invalid value: \"object\": a volume does not shrink"});
  }
  SECTION("rules do not run on metadata that is not whole") {
    const Cause missing{.reason = std::string(kCauseRequired), .message = "Required value"};
    now["spec"]["runtime"] = "Python";
    const std::vector<Cause> causes = validate(*schema, now, &before, {.of_metadata = {missing}});
    REQUIRE(causes.size() == 2);
    CHECK(causes[0] == missing);
    CHECK_THAT(causes[1].message, Catch::Contains("some validation rules were not checked"));
  }
  SECTION("rules do not run on a wrong shape") {
    now["spec"]["nodes"] = "two";
    now["spec"]["runtime"] = "Python";
    CHECK(
        texts(validate(*schema, now, &before)) ==
        Lines{"spec.nodes: Invalid value: \"string\": spec.nodes in body must be of type integer: "
              "\"string\"",
              "<nil>: Invalid value: null: some validation rules were not checked because the "
              "object was invalid; correct the existing errors to complete validation"});
  }
}

TEST_CASE("A write to the status is checked from the status on, and by all rules") {
  const SchemaPtr schema = training_job_schema();
  Json before = training_job();
  before["spec"]["nodes"] = 0;  // stored by an older schema: not the status writer's business
  Json now = before;
  now["status"] = {{"phase", "Running"}};
  CHECK(validate_status(*schema, now, before).empty());
  now["status"]["startedAt"] = "now";
  CHECK(texts(validate_status(*schema, now, before)) ==
        Lines{"status.startedAt: Invalid value: \"now\": startedAt in body must be of type "
              "date-time: \"now\"",
              "<nil>: Invalid value: null: some validation rules were not checked because the "
              "object was invalid; correct the existing errors to complete validation"});
  now["status"].erase("startedAt");
  now["metadata"]["name"] = std::string(41, 'a');
  CHECK(validate_status(*schema, now, before).size() == 1);
}

TEST_CASE("A rule's failure names its message, its rule or its error") {
  struct Row {
    const char* rule;
    Lines causes;
  };
  const Row row = GENERATE(values<Row>({
      {R"({"rule": "self.a > 0"})", {"spec.x: Invalid value: \"object\": failed rule: self.a > 0"}},
      {R"({"rule": " self.a > 0 ", "message": " must be more "})",
       {"spec.x: Invalid value: \"object\": must be more"}},
      {R"j({"rule": "self.a > 0", "messageExpression": "'a is ' + string(self.a)"})j",
       {"spec.x: Invalid value: \"object\": a is 0"}},
      {R"j({"rule": "self.a > 0", "message": "plain", "messageExpression": "string(1 / self.a)"})j",
       {"spec.x: Invalid value: \"object\": plain"}},
      {R"({"rule": "self.a > 0", "reason": "FieldValueRequired", "fieldPath": ".a",
           "message": "give one"})",
       {"spec.x.a: Required value: give one"}},
      {R"({"rule": "self.a > 0", "reason": "FieldValueDuplicate"})",
       {"spec.x: Duplicate value: \"object\""}},
      {R"({"rule": "self.b > 0"})",
       {"spec.x: Invalid value: \"object\": no such key: b evaluating rule: self.b > 0"}},
      {R"({"rule": "1 / self.a == 1", "message": "m"})",
       {"spec.x: Invalid value: \"object\": division by zero evaluating rule: m"}},
      {R"({"rule": "self.port < 5"})",
       {"spec.x: Invalid value: \"object\": 'no such overload': call arguments did not match a "
        "supported operator, function or macro signature for rule: self.port < 5"}},
      {R"({"rule": "oldSelf.a == self.a"})", {}},
      {R"({"rule": "oldSelf.hasValue() || self.a > 0", "optionalOldSelf": true})",
       {"spec.x: Invalid value: \"object\": failed rule: oldSelf.hasValue() || self.a > 0"}},
  }));
  CAPTURE(row.rule);
  const SchemaPtr schema = schema_with(R"({"type": "object", "properties": {
      "a": {"type": "integer"}, "b": {"type": "integer"},
      "port": {"x-kubernetes-int-or-string": true}},
      "x-kubernetes-validations": [)" + std::string(row.rule) +
                                       "]}");
  const Json object{{"spec", {{"x", {{"a", 0}, {"port", "http"}}}}}};
  CHECK(texts(validate(*schema, object, nullptr)) == row.causes);
}

TEST_CASE("A rule on a scalar shows its type") {
  const SchemaPtr schema = schema_with(
      R"({"type": "string", "x-kubernetes-validations": [{"rule": "self == oldSelf"}]})");
  const Json before{{"spec", {{"x", "a"}}}};
  const Json now{{"spec", {{"x", "b"}}}};
  CHECK(texts(validate(*schema, now, &before)) ==
        Lines{"spec.x: Invalid value: \"string\": failed rule: self == oldSelf"});
  CHECK(validate(*schema, now, nullptr).empty());
}

TEST_CASE("A broken rule is forgiven where nothing changed, unless it asks for the past") {
  const SchemaPtr schema =
      schema_with(R"({"type": "object", "properties": {"a": {"type": "integer"}},
      "x-kubernetes-validations": [{"rule": "self.a > 0"}]})");
  const Json before{{"spec", {{"x", {{"a", 0}}}}}};
  CHECK(validate(*schema, before, &before).empty());
  const Json now{{"spec", {{"x", {{"a", -1}}}}}};
  CHECK(validate(*schema, now, &before).size() == 1);
}

TEST_CASE("A CRD with a rule that cannot run is refused with the place in the rule") {
  struct Row {
    const char* rule;
    const char* cause;
  };
  const Row row = GENERATE(values<Row>({
      {R"({"rule": ""})",
       "s.x-kubernetes-validations[0].rule: Required value: rule is not specified"},
      {R"({"rule": "self.nope > 1"})",
       "compilation failed: ERROR: <input>:1:5: undefined field 'nope'\n | self.nope > 1\n | "
       "....^"},
      {R"({"rule": "self.spec.open.a == 1"})", "undefined field 'a'"},
      {R"({"rule": "other > 1"})",
       "compilation failed: ERROR: <input>:1:1: undeclared reference to 'other' (in container "
       "'')\n | other > 1\n | ^"},
      {R"({"rule": "self.spec.n == 'a'"})",
       "<input>:1:13: found no matching overload for '_==_' applied to '(int, string)'"},
      {R"({"rule": "self.spec.n + 1"})", "cel expression must evaluate to a bool"},
      {R"({"rule": "url('a').getHost() == 'b'"})",
       "<input>:1:4: undeclared reference to 'url' (in container ''): this server has no such "
       "function"},
      {R"j({"rule": "self.?spec.hasValue()"})j",
       "optional field selection is not supported by this server"},
      {R"({"rule": "self.spec.n ==="})", "Syntax error"},
      {R"j({"rule": "self.spec.s.matches('a(')"})j", "missing closing ): `a(`"},
      {R"({"rule": "true", "messageExpression": "1"})",
       "messageExpression must evaluate to a string"},
      {R"({"rule": "true", "reason": "Odd"})",
       "s.x-kubernetes-validations[0].reason: Unsupported value: \"Odd\": supported values: "
       "\"FieldValueDuplicate\", \"FieldValueForbidden\", \"FieldValueInvalid\", "
       "\"FieldValueRequired\""},
      {R"({"rule": "true", "fieldPath": ".spec.nope"})",
       "s.x-kubernetes-validations[0].fieldPath: Invalid value: \".spec.nope\": must be a valid "
       "path"},
      {R"({"rule": "true", "optionalOldSelf": true})",
       "s.x-kubernetes-validations[0].optionalOldSelf: Invalid value: true: may not be set if "
       "oldSelf is not used in rule"},
  }));
  CAPTURE(row.rule);
  const auto compiled = compile_crd_schema(
      Json::parse(R"({"type": "object", "properties": {"spec": {"type": "object", "properties": {
          "n": {"type": "integer"}, "s": {"type": "string"}, "open": {"type": "object",
          "x-kubernetes-preserve-unknown-fields": true}}}},
          "x-kubernetes-validations": [)" +
                  std::string(row.rule) + "]}"),
      CrdSchemaOptions{.prefix = "s"});
  REQUIRE(compiled.causes.size() == 1);
  CHECK_THAT(texts(compiled.causes)[0], Catch::Contains(row.cause));
}

TEST_CASE("oldSelf is refused where old items cannot be found") {
  const auto compiled = compile_crd_schema(
      Json::parse(R"({"type": "object", "properties": {"l": {"type": "array", "items": {
          "type": "string", "x-kubernetes-validations": [{"rule": "self == oldSelf"}]}}}})"),
      CrdSchemaOptions{.prefix = "s"});
  CHECK(
      texts(compiled.causes) ==
      Lines{"s.properties[l].items.x-kubernetes-validations[0].rule: Invalid value: \"self == "
            "oldSelf\": oldSelf cannot be used on the uncorrelatable portion of the schema within "
            "s.properties[l]"});
}

}  // namespace amdahl::local

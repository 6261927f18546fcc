#include "local/apiserver/schema/cel/eval.hpp"

#include <catch2/catch.hpp>

#include "local/apiserver/schema/cel/check.hpp"
#include "local/apiserver/schema/cel/limits.hpp"
#include "local/apiserver/schema/cel/parser.hpp"
#include "local/apiserver/schema/training_job_fixture.hpp"

namespace amdahl::local::cel {
namespace {

constexpr const char* kSelf = R"json({"type": "object", "properties": {
  "n": {"type": "integer"}, "d": {"type": "number"}, "s": {"type": "string"}, "b": {"type": "boolean"},
  "absent": {"type": "string"}, "nothing": {"type": "string", "nullable": true},
  "list": {"type": "array", "items": {"type": "integer"}},
  "names": {"type": "array", "items": {"type": "string"}},
  "set": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
  "items": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
            "items": {"type": "object", "required": ["name"], "properties": {
              "name": {"type": "string"}, "n": {"type": "integer"}}}},
  "map": {"type": "object", "additionalProperties": {"type": "integer"}},
  "a-b": {"type": "integer"}, "namespace": {"type": "string"}, "x__y": {"type": "integer"},
  "port": {"x-kubernetes-int-or-string": true},
  "open": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
  "wait": {"type": "string", "format": "duration"},
  "when": {"type": "string", "format": "date-time"}}})json";
constexpr const char* kObject =
    R"json({"n": 7, "d": 2, "s": "h\u00e4user", "b": true, "nothing": null,
  "list": [3, 1, 2], "names": ["b", "a"], "set": ["x", "y"],
  "items": [{"name": "p", "n": 1}, {"name": "q", "n": 2}], "map": {"k": 1, "a-b": 2},
  "a-b": 4, "namespace": "ns", "x__y": 5, "port": "http", "open": {"u": {"v": 1}}, "wait": "90s",
  "when": "2026-01-02T03:04:05Z"})json";
constexpr const char* kOld = R"json({"n": 7, "d": 2, "s": "old", "set": ["y", "x"],
  "items": [{"name": "q", "n": 2}, {"name": "p", "n": 1}], "names": ["a", "b"],
  "open": {"u": {"v": 1}}, "list": [3, 1, 2], "map": {"k": 1, "a-b": 2}})json";

std::string printed(const Result<Value>& result) {
  if (!result) return "error: " + result.error().context;
  if (const auto* flag = result->as<bool>()) return *flag ? "true" : "false";
  if (const auto* number = result->as<std::int64_t>()) return std::to_string(*number);
  if (const auto* number = result->as<std::uint64_t>()) return std::to_string(*number) + "u";
  if (const auto* text = result->as<std::string>()) return "'" + *text + "'";
  return std::string(type_name(*result));
}

std::string evaluated(std::string_view source, std::int64_t steps_max = kRuleStepsMax) {
  const auto compiled = compile_crd_schema(Json::parse(kSelf), {});
  REQUIRE(texts(compiled.causes) == std::vector<std::string>{});
  const auto expr = parse(source);
  if (!expr) return "syntax: " + expr.error().context;
  const auto checked = check(source, *expr, Scope{.self = *compiled.schema, .resource_root = true});
  if (!checked) return "refused: " + checked.error().context;
  const Json self = Json::parse(kObject);
  const Json old = Json::parse(kOld);
  Steps steps(steps_max);
  return printed(evaluate(*checked->expr,
                          Activation{.self = *value_of(self, compiled.schema.get(), true),
                                     .old_self = *value_of(old, compiled.schema.get(), true)},
                          steps));
}

struct Row {
  const char* source;
  const char* result;
};

}  // namespace

TEST_CASE("CEL operators follow the language") {
  const Row row = GENERATE(values<Row>({
      {"1 + 2 * 3", "7"},
      {"(1 + 2) * 3", "9"},
      {"7 / 2", "3"},
      {"-7 % 3", "-1"},
      {"0x10", "16"},
      {"-9223372036854775808", "-9223372036854775808"},
      {"9223372036854775807 + 1", "error: integer overflow"},
      {"-self.n", "-7"},
      {"1u - 2u", "error: unsigned integer overflow"},
      {"1 / 0", "error: division by zero"},
      {"1 % 0", "error: modulus by zero"},
      {"1.0 / 0.0 > 1.0", "true"},
      {"'a' + \"b\"", "'ab'"},
      {"r'\\d' == '\\\\d'", "true"},
      {"'''a'b''' == 'a\\'b'", "true"},
      {"'\\u00e4' == '\xc3\xa4'", "true"},
      {"1 < 2 && 2 <= 2 && 3 > 2 && 3 >= 3", "true"},
      {"1 == 1 ? 'yes' : 'no'", "'yes'"},
      {"self.b ? 1 : 1 / 0", "1"},
      {"false && 1 / 0 == 1", "false"},
      {"1 / 0 == 1 && false", "false"},
      {"1 / 0 == 1 || true", "true"},
      {"1 / 0 == 1 || false", "error: division by zero"},
      {"!self.b", "false"},
      {"[1, 2] + [3] == [1, 2, 3]", "true"},
      {"{'a': 1}.a + {'b': 2}['b']", "3"},
      {"2 in [1, 2]", "true"},
      {"'k' in self.map && !('z' in self.map)", "true"},
      {"[1, 2, 3][1]", "2"},
      {"[1][5]", "error: index out of bounds: 5"},
      {"{'a': 1}['b']", "error: no such key: b"},
      {"dyn(1) == dyn(1.0) && dyn(1) == dyn(1u)", "true"},
      {"dyn(1) == dyn('1')", "false"},
      {"dyn(1) < dyn('1')", "error: no such overload"},
      {"null == null", "true"},
      {"// a comment\n true", "true"},
  }));
  CAPTURE(row.source);
  CHECK(evaluated(row.source) == row.result);
}

TEST_CASE("CEL reads the object through its schema") {
  const Row row = GENERATE(values<Row>({
      {"self.n", "7"},
      {"self.d == 2.0", "true"},
      {"type(self.d) == double", "true"},
      {"has(self.absent)", "false"},
      {"has(self.nothing)", "false"},
      {"!has(self.absent) || self.absent > 'a'", "true"},
      {"self.absent", "error: no such key: absent"},
      {"self.a__dash__b", "4"},
      {"self.__namespace__", "'ns'"},
      {"self.x__underscores__y", "5"},
      {"self.map['a-b']", "2"},
      {"self.map.k", "1"},
      {"has(self.map.k) && !has(self.map.l)", "true"},
      {"self.open == oldSelf.open", "true"},
      {"self.set == oldSelf.set", "true"},
      {"self.items == oldSelf.items", "true"},
      {"self.names == oldSelf.names", "false"},
      {"self.list == oldSelf.list && self.map == oldSelf.map", "true"},
      {"self == oldSelf", "false"},
      {"self == self", "true"},
      {"type(self.port) == string ? self.port.size() : self.port", "4"},
      {"self.items.all(i, i.n > 0)", "true"},
      {"self.items.exists(i, i.name == 'q')", "true"},
      {"self.items.exists_one(i, i.n > 0)", "false"},
      {"self.items.filter(i, i.n > 1)[0].name", "'q'"},
      {"self.items.map(i, i.n * 2) == [2, 4]", "true"},
      {"self.list.map(i, i > 1, i).sum()", "5"},
      {"self.map.all(k, self.map[k] > 0)", "true"},
      {"self.list.all(x, self.list.exists(y, y == x))", "true"},
      {"self.list.all(x, x / 0 == 1)", "error: division by zero"},
      {"self.list.exists(x, x / (x - 3) == 1 || x == 1)", "true"},
      {"self.wait > duration('1m')", "true"},
      {"self.wait + duration('30s') == duration('2m')", "true"},
      {"self.when < timestamp('2026-01-02T03:04:06Z')", "true"},
      {"self.when + duration('1h') == timestamp('2026-01-02T05:04:05+01:00')", "true"},
  }));
  CAPTURE(row.source);
  CHECK(evaluated(row.source) == row.result);
}

TEST_CASE("CEL functions follow Kubernetes' libraries") {
  const Row row = GENERATE(values<Row>({
      {"size(self.s)", "6"},
      {"self.s.size() + size(self.list) + size(self.map) + size([1])", "12"},
      {"self.s.contains('us') && self.s.startsWith('h') && self.s.endsWith('er')", "true"},
      {"self.s.matches('^h.*r$') && !matches(self.s, '^x')", "true"},
      {"'aBc'.lowerAscii() + 'aBc'.upperAscii()", "'abcABC'"},
      {"'  a '.trim()", "'a'"},
      {"'a,b,c'.split(',') == ['a', 'b', 'c']", "true"},
      {"'a,b,c'.split(',', 2) == ['a', 'b,c']", "true"},
      {"'abc'.split('') == ['a', 'b', 'c']", "true"},
      {"['a', 'b'].join('-') + ['a', 'b'].join()", "'a-bab'"},
      {"'aaa'.replace('a', 'b') + 'aaa'.replace('a', 'b', 1)", "'bbbbaa'"},
      {"'h\xc3\xa4h'.indexOf('h', 1)", "2"},
      {"'abcb'.lastIndexOf('b')", "3"},
      {"'h\xc3\xa4"
       "user'.substring(1, 3)",
       "'\xc3\xa4u'"},
      {"'abc'.substring(4)", "error: index out of range: 4"},
      {"'abc'.charAt(1)", "'b'"},
      {"string(12) + string(true) + string(1.5)", "'12true1.5'"},
      {"int('42') + int(2.9)", "44"},
      {"int('x')", "error: strconv.ParseInt: parsing \"x\": invalid syntax"},
      {"double('1.5') == 1.5", "true"},
      {"[1, 2, 2].isSorted() && ![2, 1].isSorted()", "true"},
      {"[3, 1].min() + [3, 1].max() + [3, 1].sum()", "8"},
      {"[1, 2, 1].indexOf(1) + [1, 2, 1].lastIndexOf(1)", "2"},
      {"quantity('1Gi').compareTo(quantity('1024Mi'))", "0"},
      {"quantity('1500m').isGreaterThan(quantity('1'))", "true"},
      {"quantity('1e3') == quantity('1k')", "true"},
      {"quantity('0.5').isLessThan(quantity('600m'))", "true"},
      {"quantity('2').add(quantity('1')).asInteger()", "3"},
      {"isQuantity('20Mi') && !isQuantity('20Mo')", "true"},
      {"duration('1h').getMinutes()", "60"},
      {"duration('x') > duration('1s')", "error: time: invalid duration \"x\""},
  }));
  CAPTURE(row.source);
  CHECK(evaluated(row.source) == row.result);
}

TEST_CASE("What is outside the subset is refused before it runs") {
  const auto starts = [](const char* source) { return evaluated(source).substr(0, 7); };
  for (const char* source :
       {"self.open.u", "unknown", "self.s + 1", "self.n.contains('a')", "size(self.n)", "1 && true",
        "self.n.all(x, true)", "[1].all(x, x)", "ip('1.2.3.4')", "self.s.format([1])", "-'a'",
        "self.list['a']", "1 in 2", "self.s.split()", "self.s < 1", "self.metadata.labels"}) {
    CAPTURE(source);
    CHECK(starts(source) == "refused");
  }
  for (const char* source :
       {"", "1 +", "(1", "[1", "'a", "a.b.", "1 ? 2", "in", "var", "Foo{}", "@", "has(1)",
        "[1].all(1, true)", "9223372036854775808", "1.5u", "'\\q'"}) {
    CAPTURE(source);
    CHECK(starts(source) == "syntax:");
  }
}

TEST_CASE("An evaluation ends") {
  CHECK(evaluated("self.list.all(a, self.list.all(b, self.list.all(c, a + b + c > 0)))", 50) ==
        "error: operation cancelled: actual cost limit exceeded");
  CHECK(evaluated("self.list.exists(a, 1 / 0 == 1) || self.b", 3) ==
        "error: operation cancelled: actual cost limit exceeded");
  std::string doubling = "'" + std::string(1000, 'a') + "'";
  for (int i = 0; i < 14; ++i) doubling = "[" + doubling + "].map(x, x + x)[0]";
  CHECK(evaluated(doubling) == "error: operation cancelled: actual cost limit exceeded");
}

}  // namespace amdahl::local::cel

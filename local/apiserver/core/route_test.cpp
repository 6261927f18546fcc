#include "local/apiserver/core/route.hpp"

#include <catch2/catch.hpp>

#include "local/apiserver/core/content.hpp"
#include "local/apiserver/core/query.hpp"

namespace amdahl::local {
namespace {

std::string shown(const Route& route) {
  return route.group + "|" + route.version + "|" + route.ns + "|" + route.plural + "|" +
         route.name + "|" + route.subresource + (route.watch ? "|watch" : "");
}

}  // namespace

TEST_CASE("parse_target tells resources apart") {
  struct Row {
    const char* target;
    RouteKind kind;
    const char* shown;
  };
  const Row row = GENERATE(
      Row{"/api/v1/pods", RouteKind::kResource, "|v1||pods||"},
      Row{"/api/v1/namespaces", RouteKind::kResource, "|v1||namespaces||"},
      Row{"/api/v1/namespaces/a", RouteKind::kResource, "|v1||namespaces|a|"},
      Row{"/api/v1/namespaces/a/status", RouteKind::kResource, "|v1||namespaces|a|status"},
      Row{"/api/v1/namespaces/a/finalize", RouteKind::kResource, "|v1||namespaces|a|finalize"},
      Row{"/api/v1/namespaces/a/pods", RouteKind::kResource, "|v1|a|pods||"},
      Row{"/api/v1/namespaces/a/pods/", RouteKind::kResource, "|v1|a|pods||"},
      Row{"/api/v1/namespaces/a/pods/b", RouteKind::kResource, "|v1|a|pods|b|"},
      Row{"/api/v1/namespaces/a/pods/b/log", RouteKind::kResource, "|v1|a|pods|b|log"},
      Row{"/api/v1/watch/namespaces/a/pods", RouteKind::kResource, "|v1|a|pods|||watch"},
      Row{"/apis/apps/v1/namespaces/a/deployments/b/scale?x=y", RouteKind::kResource,
          "apps|v1|a|deployments|b|scale"},
      Row{"/apis/a%2eb/v1/x%20y", RouteKind::kResource, "a.b|v1||x y||"},
      Row{"/api/v1/namespaces/a/pods/b/c/d", RouteKind::kUnknown, "|v1|a||||"},
      Row{"/api/v1//pods", RouteKind::kUnknown, "|v1|||||"},
      Row{"/api", RouteKind::kDocument, "|||||"}, Row{"/apis/apps", RouteKind::kDocument, "|||||"},
      Row{"/apis/apps/v1", RouteKind::kDocument, "|||||"},
      Row{"/openapi/v3/apis/apps/v1", RouteKind::kDocument, "|||||"},
      Row{"/version", RouteKind::kDocument, "|||||"}, Row{"/", RouteKind::kDocument, "|||||"},
      Row{"/readyz/ping", RouteKind::kHealth, "|||||"},
      Row{"/metrics", RouteKind::kMetrics, "|||||"});
  INFO(row.target);
  auto parsed = parse_target(row.target);
  REQUIRE(parsed);
  CHECK(parsed->route.kind == row.kind);
  if (row.kind == RouteKind::kResource) CHECK(shown(parsed->route) == row.shown);
}

TEST_CASE("parse_target refuses broken escapes and endless targets") {
  for (const char* target : {"/api/v1/pods/%zz", "/api/v1/pods/a%2", "/api?x=%g0", "/api?%=1"}) {
    INFO(target);
    CHECK(parse_target(target).error().code == 400);
  }
  CHECK(parse_target(std::string(kTargetBytesMax + 1, 'a')).error().code == 414);
  std::string many = "/api?a";
  for (std::size_t at = 0; at < kParametersMax; ++at) many += "&a";
  CHECK(parse_target(many).error().code == 400);
}

TEST_CASE("Query options have Kubernetes' types and texts") {
  struct Row {
    const char* query;
    int code;
    const char* message;
  };
  const Row row = GENERATE(
      Row{"limit=abc", 400, "strconv.ParseInt: parsing \"abc\": invalid syntax"},
      Row{"timeoutSeconds=1s", 400, "strconv.ParseInt: parsing \"1s\": invalid syntax"},
      Row{"limit=99999999999999999999", 400,
          "strconv.ParseInt: parsing \"99999999999999999999\": value out of range"},
      Row{"fieldSelector=a", 400, "invalid selector: 'a'; can't understand 'a'"},
      Row{"resourceVersionMatch=Exact", 422,
          "ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Forbidden: "
          "resourceVersionMatch is forbidden unless resourceVersion is provided"},
      Row{"resourceVersionMatch=Exact&resourceVersion=0", 422,
          "ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Forbidden: "
          "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\""},
      Row{"resourceVersionMatch=x&resourceVersion=1", 422,
          "ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Unsupported value: "
          "\"x\": "
          "supported values: \"Exact\", \"NotOlderThan\", \"\""},
      Row{"sendInitialEvents=true", 422,
          "ListOptions.meta.k8s.io \"\" is invalid: sendInitialEvents: Forbidden: "
          "sendInitialEvents is forbidden for list"},
      Row{"watch=1&sendInitialEvents=true", 422,
          "ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Forbidden: "
          "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"},
      Row{"watch&resourceVersionMatch=NotOlderThan", 422,
          "ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Forbidden: "
          "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"});
  INFO(row.query);
  auto target = parse_target(std::string("/api?") + row.query);
  REQUIRE(target);
  auto query = parse_query_options(target->parameters);
  Status status;
  if (!query)
    status = query.error();
  else if (auto checked = check_list_options(*query); !checked)
    status = checked.error();
  CHECK(status.code == row.code);
  CHECK(status.message == row.message);
}

TEST_CASE("Query options that fit are read") {
  auto target = parse_target(
      "/api?labelSelector=a%3Db%2Cc&limit=5&watch=false&allowWatchBookmarks&timeoutSeconds=7&"
      "dryRun=All&force=true&gracePeriodSeconds=0&propagationPolicy=Orphan&unknown=1&pretty=true");
  REQUIRE(target);
  auto query = parse_query_options(target->parameters);
  REQUIRE(query);
  CHECK(query->labels.to_string() == "a=b,c");
  CHECK(query->limit == 5);
  CHECK_FALSE(query->watch);
  CHECK(query->bookmarks);
  CHECK(query->timeout_seconds == 7);
  CHECK(query->dry());
  CHECK(query->force == true);
  CHECK(query->grace_period_seconds == 0);
  CHECK(query->propagation_policy == "Orphan");
  CHECK(query->pretty);
}

TEST_CASE("Write options are checked") {
  CHECK(check_write_options({.dry_run = {"x"}}, "CreateOptions").error().message ==
        "CreateOptions.meta.k8s.io \"\" is invalid: dryRun: Unsupported value: [\"x\"]: "
        "supported values: \"All\"");
  CHECK(check_write_options({.field_validation = "x"}, "PatchOptions").error().code == 422);
  CHECK(check_write_options({.field_manager = std::string(129, 'a')}, "U").error().code == 422);
  CHECK(check_write_options({.field_manager = "a\n"}, "U").error().code == 422);
  CHECK(check_write_options({.dry_run = {"All"}, .field_validation = "Strict"}, "U"));
}

TEST_CASE("FieldSelector matches fields, also with escapes") {
  StoredObject object;
  object.key = "ns/a";
  object.fields = {{"status.phase", "Running"}, {"x", "a,b=c"}};
  struct Row {
    const char* text;
    bool matches;
  };
  const Row row = GENERATE(
      Row{"", true}, Row{"metadata.name=a", true}, Row{"metadata.name==b", false},
      Row{"metadata.namespace=ns,status.phase!=Pending", true}, Row{"status.phase!=Running", false},
      Row{"absent=", true}, Row{"absent!=", false}, Row{R"(x=a\,b\=c)", true});
  INFO(row.text);
  auto selector = FieldSelector::parse(row.text);
  REQUIRE(selector);
  CHECK(selector->matches(object) == row.matches);
  for (const char* bad : {"a", "a=b=c", R"(a=\)", R"(a=\x)"})
    CHECK_FALSE(FieldSelector::parse(bad));
}

TEST_CASE("Accept chooses a form") {
  struct Row {
    const char* accept;
    int code;  // 0: accepted
    ObjectForm form;
  };
  const Row row = GENERATE(
      Row{"", 0, ObjectForm::kWhole}, Row{"*/*", 0, ObjectForm::kWhole},
      Row{"application/json", 0, ObjectForm::kWhole},
      Row{"application/vnd.kubernetes.protobuf,application/json", 0, ObjectForm::kWhole},
      Row{"application/json;stream=watch", 0, ObjectForm::kWhole},
      Row{"application/json;as=Table;v=v1;g=meta.k8s.io,application/json", 0, ObjectForm::kTable},
      Row{"application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1", 0,
          ObjectForm::kMetadata},
      Row{"application/json;as=Odd;g=meta.k8s.io;v=v1, application/*", 0, ObjectForm::kWhole},
      Row{"application/vnd.kubernetes.protobuf", 406, ObjectForm::kWhole},
      Row{"text/html", 406, ObjectForm::kWhole});
  INFO(row.accept);
  auto accepted = negotiate(row.accept);
  if (row.code != 0) {
    CHECK(accepted.error().code == row.code);
  } else {
    REQUIRE(accepted);
    CHECK(accepted->form == row.form);
  }
}

TEST_CASE("parse_body finds repeated fields and bounds the depth") {
  auto body =
      parse_body(R"({"a":1,"b":[{"c":1},{"c":1,"d":{"e":1,"e":2}}],"a":2})", BodyFormat::kJson);
  REQUIRE(body);
  CHECK(body->duplicates ==
        std::vector<std::string>{"duplicate field \"b[1].d.e\"", "duplicate field \"a\""});
  CHECK(body->value["a"] == 2);
  CHECK_FALSE(parse_body(std::string(kBodyDepthMax + 1, '['), BodyFormat::kJson));
  CHECK_FALSE(parse_body("{\"a\":}", BodyFormat::kJson));
  CHECK_FALSE(parse_body("", BodyFormat::kJson));
  auto yaml = parse_body("a: 1\nb: [x, 'y']\n", BodyFormat::kYaml);
  REQUIRE(yaml);
  CHECK(yaml->value == Json::parse(R"({"a":1,"b":["x","y"]})"));
  CHECK_FALSE(parse_body("a: 1\na: 2\n", BodyFormat::kYaml));
}

}  // namespace amdahl::local

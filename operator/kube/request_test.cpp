#include "operator/kube/request.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

namespace amdahl::kube {
namespace {

const Resource kPods{.group = "", .version = "v1", .plural = "pods", .kind = "Pod"};
const Resource kNodes{
    .group = "", .version = "v1", .plural = "nodes", .kind = "Node", .namespaced = false};
const Resource kJobs{
    .group = "amdahl.dev", .version = "v1alpha1", .plural = "trainingjobs", .kind = "TrainingJob"};
const Resource kRoles{.group = "rbac.authorization.k8s.io",
                      .version = "v1",
                      .plural = "clusterroles",
                      .kind = "ClusterRole",
                      .namespaced = false};

constexpr std::string_view kProtobufAccept =
    "application/vnd.kubernetes.protobuf, application/json";

std::string header(const Request& request, std::string_view name) {
  for (const Header& header : request.headers)
    if (header.name == name) return header.value;
  return "";
}

void check(const Result<Request>& request, std::string_view line, std::string_view subject) {
  INFO(line);
  REQUIRE(request);
  CHECK(request->method + " " + request->target == line);
  CHECK(request->subject == subject);
}

TEST_CASE("A request for one object has exactly this target", "[C7]") {
  check(get_request(kPods, {"research", "llama-0"}), "GET /api/v1/namespaces/research/pods/llama-0",
        "pods research/llama-0");
  check(get_request(kJobs, {"research", "llama"}, {}, "status"),
        "GET /apis/amdahl.dev/v1alpha1/namespaces/research/trainingjobs/llama/status",
        "trainingjobs/status research/llama");
  check(get_request(kNodes, {"", "gpu-1.example"}), "GET /api/v1/nodes/gpu-1.example",
        "nodes gpu-1.example");
  check(get_request(kRoles, {"", "system:node"}),
        "GET /apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Anode",
        "clusterroles system:node");
  check(delete_request(kPods, {"research", "llama-0"}, {}),
        "DELETE /api/v1/namespaces/research/pods/llama-0", "pods research/llama-0");
}

TEST_CASE("A list or watch has exactly this target", "[C7][L1]") {
  check(list_request(kPods, {}), "GET /api/v1/pods", "pods");
  check(
      list_request(kPods, {.ns = "research",
                           .labels = "amdahl.dev/job=llama ft,a!=b",
                           .fields = "spec.nodeName=n&1",
                           .limit = 500,
                           .continue_token = "a+b/c==",
                           .version = "17",
                           .version_match = "NotOlderThan"}),
      "GET /api/v1/namespaces/research/pods?labelSelector=amdahl.dev%2Fjob%3Dllama%20ft%2Ca%21%3Db"
      "&fieldSelector=spec.nodeName%3Dn%261&limit=500&continue=a%2Bb%2Fc%3D%3D"
      "&resourceVersion=17&resourceVersionMatch=NotOlderThan",
      "pods in research");
  check(
      watch_request(kPods, {.version = "42", .timeout_seconds = 311}),
      "GET /api/v1/pods?watch=true&allowWatchBookmarks=true&resourceVersion=42&timeoutSeconds=311",
      "pods");
  check(watch_request(kPods, {.ns = "research", .initial_events = true}),
        "GET /api/v1/namespaces/research/pods?watch=true&allowWatchBookmarks=true"
        "&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&timeoutSeconds=300",
        "pods in research");
  CHECK(watch_request(kPods, {})->lane == Lane::kStream);
  CHECK(list_request(kPods, {})->lane == Lane::kDefault);
}

TEST_CASE("Every write asks the server to refuse unknown fields", "[W11]") {
  const std::string body = R"({"metadata":{"resourceVersion":"7"}})";
  check(create_request(kPods, "research", "llama-0", "{}", "amdahl"),
        "POST /api/v1/namespaces/research/pods?fieldManager=amdahl&fieldValidation=Strict",
        "pods research/llama-0");
  check(create_request(kPods, "research", "llama-0", "{}", "", "eviction"),
        "POST /api/v1/namespaces/research/pods/llama-0/eviction?fieldValidation=Strict",
        "pods/eviction research/llama-0");
  check(update_request(kJobs, {"research", "llama"}, body, "amdahl", "status"),
        "PUT /apis/amdahl.dev/v1alpha1/namespaces/research/trainingjobs/llama/status"
        "?fieldManager=amdahl&fieldValidation=Strict",
        "trainingjobs/status research/llama");
  check(patch_request(kPods, {"research", "p"}, "{}",
                      {.kind = PatchKind::kApply, .field_manager = "amdahl", .force = true}),
        "PATCH /api/v1/namespaces/research/pods/p"
        "?fieldManager=amdahl&fieldValidation=Strict&force=true",
        "pods research/p");
  check(patch_request(kPods, {"research", "p"}, "{}", {.force = true}),
        "PATCH /api/v1/namespaces/research/pods/p?fieldValidation=Strict", "pods research/p");
}

TEST_CASE("A patch states its kind", "[W5]") {
  const auto type = [](PatchKind kind) {
    return header(*patch_request(kPods, {"r", "p"}, "{}", {.kind = kind, .field_manager = "m"}),
                  "Content-Type");
  };
  CHECK(type(PatchKind::kJson) == "application/json-patch+json");
  CHECK(type(PatchKind::kMerge) == "application/merge-patch+json");
  CHECK(type(PatchKind::kApply) == "application/apply-patch+yaml");
  const auto anonymous = patch_request(kPods, {"r", "p"}, "{}", {.kind = PatchKind::kApply});
  REQUIRE_FALSE(anonymous);
  CHECK(anonymous.error().code == Errc::kInvalid);
}

TEST_CASE("A write can be answered with metadata, and else with the whole object") {
  const std::string wanted =
      "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1, application/json";
  for (auto request :
       {create_request(kPods, "r", "p", "{}"), patch_request(kPods, {"r", "p"}, "{}", {}),
        delete_request(kPods, {"r", "p"}, {})}) {
    REQUIRE(request);
    CHECK(header(*request, "Accept") == "application/json");
    answer_with_metadata(*request);
    CHECK(header(*request, "Accept") == wanted);
  }
}

TEST_CASE("Accept follows the shape that the reader wants", "[L15][C9]") {
  constexpr Shape kProto{.encoding = Encoding::kProtobuf};
  constexpr Shape kMeta{.metadata_only = true};
  constexpr Shape kProtoMeta{.encoding = Encoding::kProtobuf, .metadata_only = true};
  CHECK(header(*get_request(kPods, {"r", "p"}), "Accept") == "application/json");
  CHECK(header(*get_request(kPods, {"r", "p"}, kProto), "Accept") == kProtobufAccept);
  CHECK(header(*watch_request(kPods, {}, kProto), "Accept") == kProtobufAccept);
  CHECK(header(*list_request(kPods, {}, kMeta), "Accept") ==
        "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1, application/json");
  CHECK(header(*watch_request(kPods, {}, kProtoMeta), "Accept") ==
        "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1, "
        "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1, application/json");
}

TEST_CASE("An update without a resourceVersion is refused before it is sent", "[W4]") {
  for (const char* body :
       {"", "{", "[]", "{}", R"({"metadata":{}})", R"({"metadata":7})",
        R"({"metadata":{"resourceVersion":""}})", R"({"metadata":{"resourceVersion":7}})",
        R"({"spec":{"metadata":{"resourceVersion":"7"}}})", R"({"resourceVersion":"7"})"}) {
    INFO(body);
    const auto request = update_request(kPods, {"research", "p"}, body);
    REQUIRE_FALSE(request);
    CHECK(request.error().code == Errc::kInvalid);
    CHECK(request.error().context.find("update pods research/p") == 0);
  }
  CHECK(update_request(kPods, {"r", "p"}, R"({"metadata":{"resourceVersion":"7"}})"));
}

TEST_CASE("A name that cannot be a path segment is refused before it is sent", "[C7]") {
  const std::string_view bad_names[] = {"",      ".",    "..",   "a/b",  "../secrets/x",
                                        "a%2fb", "a\nb", "a\rb", "\x7f", "a\x01"};
  for (const std::string_view bad : bad_names) {
    INFO(bad);
    const auto request = get_request(kPods, {"research", std::string(bad)});
    REQUIRE_FALSE(request);
    CHECK(request.error().code == Errc::kInvalid);
    CHECK(request.error().context.find('\n') == std::string::npos);
  }
  CHECK_FALSE(get_request(kPods, {"research", std::string(2000, 'a')}));
  for (const char* ns : {"", "UPPER", "a.b", "-a", "a-", "a/b", "..", "a b", "a\n"}) {
    INFO(ns);
    CHECK_FALSE(get_request(kPods, {ns, "p"}));
  }
  CHECK_FALSE(get_request(kNodes, {"research", "n"}));
  CHECK_FALSE(list_request(kNodes, {.ns = "research"}));
  CHECK_FALSE(get_request(kPods, {"r", "p"}, {}, "a/b"));
  CHECK_FALSE(create_request(kPods, "", "p", "{}"));
  CHECK_FALSE(create_request(kPods, "r", "", "{}", "", "eviction"));
  CHECK_FALSE(delete_collection_request(kPods, {}, {}));
  CHECK_FALSE(delete_collection_request(kPods, {.ns = "r"}, {.uid = "u"}));
  CHECK(create_request(kPods, "r", "", "{}"));  // generateName
}

TEST_CASE("Percent-encoding leaves only unreserved characters", "[C7]") {
  CHECK(percent_encode("AZaz09-._~") == "AZaz09-._~");
  CHECK(percent_encode(" +%&=/?#:@!$'()*,;[]") ==
        "%20%2B%25%26%3D%2F%3F%23%3A%40%21%24%27%28%29%2A%2C%3B%5B%5D");
  CHECK(percent_encode("\xc3\xa4\r\n") == "%C3%A4%0D%0A");
  CHECK(percent_encode(std::string_view("\0", 1)) == "%00");
}

TEST_CASE("A delete carries its preconditions in the body", "[W3]") {
  const auto request = delete_request(
      kPods, {"r", "p"},
      {.uid = "u-1", .version = "9", .grace_seconds = 0, .propagation = "Background"});
  REQUIRE(request);
  CHECK(nlohmann::json::parse(request->body) ==
        nlohmann::json::parse(R"({"apiVersion":"v1","kind":"DeleteOptions",
          "preconditions":{"uid":"u-1","resourceVersion":"9"},
          "gracePeriodSeconds":0,"propagationPolicy":"Background"})"));
  check(delete_collection_request(kPods, {.ns = "r", .labels = "a=b"}, {}),
        "DELETE /api/v1/namespaces/r/pods?labelSelector=a%3Db", "pods in r");
}

TEST_CASE("Logs, reviews and discovery have exactly this target", "[C7][C10]") {
  check(logs_request({"r", "p"}, {.container = "trainer",
                                  .follow = true,
                                  .previous = true,
                                  .timestamps = true,
                                  .tail_lines = 10,
                                  .since_seconds = 60,
                                  .limit_bytes = 1024}),
        "GET /api/v1/namespaces/r/pods/p/log?container=trainer&follow=true&previous=true"
        "&timestamps=true&tailLines=10&sinceSeconds=60&limitBytes=1024",
        "pods/log r/p");
  check(review_request({.group = "authorization.k8s.io",
                        .version = "v1",
                        .plural = "selfsubjectaccessreviews",
                        .kind = "SelfSubjectAccessReview",
                        .namespaced = false},
                       "{}"),
        "POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews", "selfsubjectaccessreviews");
  CHECK(discover_request("/apis/batch/v1").target == "/apis/batch/v1");
  CHECK(discover_request("/apis/a?b/v1").target == "/apis/a%3Fb/v1");
  CHECK(discover_request("/version").target == "/version");
}

TEST_CASE("Only verbs that change the cluster are writes", "[E2]") {
  for (const Verb verb :
       {Verb::kCreate, Verb::kUpdate, Verb::kPatch, Verb::kDelete, Verb::kDeleteCollection})
    CHECK(is_write(verb));
  for (const Verb verb :
       {Verb::kGet, Verb::kList, Verb::kWatch, Verb::kLogs, Verb::kReview, Verb::kDiscover})
    CHECK_FALSE(is_write(verb));
  CHECK(name(Verb::kDeleteCollection) == "deletecollection");
  CHECK(name(Verb::kDiscover) == "discover");
}

TEST_CASE("An object key reads as people write it") {
  CHECK(to_string(ObjectKey{"research", "llama"}) == "research/llama");
  CHECK(to_string(ObjectKey{"", "node-1"}) == "node-1");
}

}  // namespace
}  // namespace amdahl::kube

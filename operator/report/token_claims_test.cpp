#include "operator/report/token_claims.hpp"

#include <catch2/catch.hpp>

#include "operator/report/test_pod_token.hpp"

namespace amdahl::report {
namespace {

constexpr std::string_view kKubernetes =
    R"({"aud":["amdahl.dev/report"],"exp":1,"iss":"https://kubernetes.default.svc","kubernetes.io":
        {"namespace":"research","node":{"name":"n","uid":"1"},"pod":{"name":"llama-1-0","uid":"u"},
         "serviceaccount":{"name":"default","uid":"2"},"warnafter":3},
        "sub":"system:serviceaccount:research:default"})";

TEST_CASE("Claims are read from a token as Kubernetes binds it to a pod", "[A5]") {
  const auto claims = unverified_claims(token_with_claims(kKubernetes));
  REQUIRE(claims);
  CHECK(claims->audiences == std::vector<std::string>{"amdahl.dev/report"});
  CHECK(claims->pod == TokenPod{.ns = "research", .pod = "llama-1-0", .pod_uid = "u"});
}

TEST_CASE("Claims of anything else are nothing", "[A5]") {
  const std::string good = token_with_claims(kKubernetes);
  for (const std::string& text :
       {std::string(), std::string("x"), std::string(".."), std::string("a.b.c"),
        std::string("a..c"), good + ".d", good.substr(0, good.rfind('.') + 1),
        good.substr(0, good.rfind('.')), "." + good, std::string(100'000, '.'),
        std::string(100'000, 'a'), "a." + std::string(kClaimsBytesMax + 4, 'a') + ".c"})
    CHECK_FALSE(unverified_claims(text));
  for (const char* claims :
       {"", "null", "[]", "5", "\"text\"", "{}", R"({"aud":[]})",
        R"({"aud":"one","kubernetes.io":{"namespace":"n","pod":{"name":"p","uid":"u"}}})",
        R"({"aud":[5],"kubernetes.io":{"namespace":"n","pod":{"name":"p","uid":"u"}}})",
        R"({"aud":["a"],"kubernetes.io":null})", R"({"aud":["a"],"kubernetes.io":{"pod":{}}})",
        R"({"aud":["a"],"kubernetes.io":{"namespace":"n"}})",
        R"({"aud":["a"],"kubernetes.io":{"namespace":"n","pod":[]}})",
        R"({"aud":["a"],"kubernetes.io":{"namespace":"n","pod":{"name":"p","uid":""}}})",
        R"({"aud":["a"],"kubernetes.io":{"namespace":"n","pod":{"name":{},"uid":"u"}}})"}) {
    INFO(claims);
    CHECK_FALSE(unverified_claims(token_with_claims(claims)));
  }
  const std::string deep = std::string(3000, '[') + std::string(3000, ']');
  CHECK_FALSE(unverified_claims(token_with_claims(deep)));
}

}  // namespace
}  // namespace amdahl::report

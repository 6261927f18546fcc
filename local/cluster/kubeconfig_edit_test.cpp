#include "local/cluster/kubeconfig_edit.hpp"

#include <catch2/catch.hpp>

#include "operator/kube/kubeconfig.hpp"

namespace amdahl::local {
namespace {

const ClusterAddress kHere{
    .url = "https://127.0.0.1:4711", .authority_pem = "PEM", .token = "secret"};

std::string merged(std::string_view text) {
  const auto result = merge_context(text, kHere, "config");
  INFO((result ? "" : result.error().context));
  REQUIRE(result);
  const kube::KubeconfigFile file{.path = "config", .text = *result};
  const auto config = kube::merge_kubeconfig({&file, 1}, kContextName);
  REQUIRE(config);
  CHECK(config->server.port == 4711);
  CHECK(config->tls.ca.data == "PEM");
  CHECK(std::get<kube::StaticToken>(config->auth).token == "secret");
  // Twice is the same as once.
  CHECK(*merge_context(*result, kHere, "config") == *result);
  return *result;
}

TEST_CASE("A kubeconfig of our own names cluster, user and context and uses it") {
  const std::string text = kubeconfig_text(kHere);
  const kube::KubeconfigFile file{.path = "config", .text = text};
  const auto config = kube::merge_kubeconfig({&file, 1}, "");
  REQUIRE(config);
  CHECK(config->ns == "default");
  CHECK(to_string(config->server) == "https://127.0.0.1:4711");
}

constexpr std::string_view kUsers =
    "# my clusters\n"
    "apiVersion: v1\n"
    "kind: Config\n"
    "clusters:\n"
    "# the expensive one\n"
    "- name: prod\n"
    "  cluster:\n"
    "    server: https://prod:6443  # do not touch\n"
    "contexts:\n"
    "  - context: {cluster: prod, user: ann}\n"
    "    name: prod\n"
    "current-context: prod\n"
    "users:\n"
    "- name: ann\n"
    "  user:\n"
    "    token: |\n"
    "      top\n"
    "preferences: {}\n";

TEST_CASE("Merging keeps comments, order and the current context") {
  const std::string text = merged(kUsers);
  for (const char* kept :
       {"# my clusters\n", "# the expensive one\n- name: prod\n",
        "server: https://prod:6443  # do not touch\n", "  - context: {cluster: prod, user: ann}\n",
        "current-context: prod\n", "    token: |\n      top\n"})
    CHECK_THAT(text, Catch::Contains(kept));
  CHECK(*remove_context(text, "config") == kUsers);
}

TEST_CASE("Merging into nothing, or comments, or a config without entries") {
  CHECK_THAT(merged(""), Catch::Contains("current-context: amdahl-local"));
  CHECK_THAT(merged("# mine"), Catch::StartsWith("# mine\n"));
  const std::string empty =
      "apiVersion: v1\nclusters: null\ncontexts: []\ncurrent-context: \"\"\nkind: Config\nusers:\n";
  CHECK_THAT(merged(empty), Catch::Contains("current-context: amdahl-local"));
  CHECK_THAT(merged("apiVersion: v1\nkind: Config\n"), Catch::StartsWith("apiVersion: v1\n"));
}

TEST_CASE("Merging into a file in flow style keeps all its data") {
  const std::string text = merged(R"({"kind": "Config", "apiVersion": "v1", "current-context": "a",
  "clusters": [{"name": "a", "cluster": {"server": "https://a", "insecure-skip-tls-verify": true}}],
  "contexts": [{"name": "a", "context": {"cluster": "a", "user": "1.10"}}],
  "users": [{"name": "1.10", "user": {"token": "007"}}]})");
  const kube::KubeconfigFile file{.path = "config", .text = text};
  const auto config = kube::merge_kubeconfig({&file, 1}, "");
  REQUIRE(config);
  CHECK(config->tls.insecure);
  CHECK(std::get<kube::StaticToken>(config->auth).token == "007");
}

TEST_CASE("Merging replaces an older entry of ours, wherever it is") {
  const std::string old = *merge_context(
      kUsers, {.url = "https://127.0.0.1:1", .authority_pem = "OLD", .token = "old"}, "config");
  const std::string text = merged(old);
  CHECK_THAT(text, !Catch::Contains("127.0.0.1:1\n") && !Catch::Contains("token: old"));
  CHECK_THAT(text, Catch::Contains("# the expensive one\n"));
}

TEST_CASE("Merging refuses what is no kubeconfig") {
  for (const char* text :
       {"- a\n- b\n", "clusters: [", "clusters: 5\n", "kind: Pod\n",
        "clusters:\n- cluster: {server: \"https://a\"}\n", "a: 1\na: 2\n", "just text"}) {
    INFO(text);
    const auto result = merge_context(text, kHere, "config");
    REQUIRE_FALSE(result);
    CHECK_THAT(result.error().context, Catch::Contains("config"));
  }
}

TEST_CASE("Removing leaves a file without our entries as it is") {
  CHECK(*remove_context(kUsers, "config") == kUsers);
  CHECK(remove_context("", "config")->empty());
  CHECK_FALSE(remove_context("clusters: [", "config"));
}

TEST_CASE("Removing what was all leaves a config without a context") {
  const std::string text = *remove_context(kubeconfig_text(kHere), "config");
  CHECK_THAT(text, !Catch::Contains("amdahl-local") && Catch::Contains("clusters: []"));
}

}  // namespace
}  // namespace amdahl::local

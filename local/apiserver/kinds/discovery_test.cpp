// The expected bodies were recorded from kube-apiserver 1.34.4 (testdata/discovery.json):
// everything we serve must be there, in the same words.
#include "local/apiserver/kinds/discovery.hpp"

#include <catch2/catch.hpp>
#include <fstream>

namespace amdahl::local {
namespace {

Json recorded() {
  std::ifstream file("local/apiserver/kinds/testdata/discovery.json");
  Json data = Json::parse(file, nullptr, false);
  REQUIRE(data.is_object());
  return data;
}

KindTable table_with_definitions(const Json& data) {
  KindTable table;
  for (const Json& crd : data.at("crds")) REQUIRE(table.put_crd(crd));
  return table;
}

Json named(const Json& list, const char* key, const Json& name) {
  for (const Json& item : list) {
    if (item.at(key) == name) return item;
  }
  return nullptr;
}

TEST_CASE("Discovery lists resources as kube-apiserver does") {
  const Json data = recorded();
  const KindTable table = table_with_definitions(data);
  for (const auto& [path, theirs] : data.at("resources").items()) {
    CAPTURE(path);
    const std::size_t slash = path.rfind('/');
    const std::string group = path.starts_with("/apis/") ? path.substr(6, slash - 6) : "";
    const auto ours = api_resource_list(table, group, path.substr(slash + 1));
    REQUIRE(ours);
    for (const Json& resource : ours->at("resources")) {
      CHECK(resource == named(theirs.at("resources"), "name", resource.at("name")));
    }
    Json rest = *ours;
    rest["resources"] = theirs.at("resources");
    CHECK(rest == theirs);
  }
  CHECK_FALSE(api_resource_list(table, "apps", "v2"));
  CHECK_FALSE(api_resource_list(table, "nothing.example", "v1"));
}

TEST_CASE("Discovery lists groups as kube-apiserver does") {
  const Json data = recorded();
  const KindTable table = table_with_definitions(data);
  const Json list = api_group_list(table);
  CHECK(list.at("groups") == data.at("groups"));
  CHECK(list.at("apiVersion") == "v1");
  const auto group = api_group(table, "example.com");
  REQUIRE(group);
  CHECK(group->at("preferredVersion").at("version") == "v1");
  CHECK(group->at("kind") == "APIGroup");
  CHECK_FALSE(api_group(table, "nothing.example"));
  CHECK_FALSE(api_group(table, ""));
  CHECK(api_versions("127.0.0.1:1").at("versions") == Json::array({"v1"}));
}

TEST_CASE("Aggregated discovery has the shape of kube-apiserver's") {
  const Json data = recorded();
  const KindTable table = table_with_definitions(data);
  for (const char* root : {"/api", "/apis"}) {
    const bool is_api = std::string_view(root) == "/api";
    const Json ours = aggregated_discovery(
        table, is_api ? DiscoveryRoot::kApi : DiscoveryRoot::kApis, DiscoveryVersion::kV2);
    const Json& theirs = data.at("aggregated").at(root);
    REQUIRE(ours.at("items").size() == theirs.at("items").size());
    for (std::size_t i = 0; i < ours.at("items").size(); ++i) {
      const Json& group = ours.at("items")[i];
      const Json& real = theirs.at("items")[i];
      CHECK(group.at("metadata") == real.at("metadata"));
      REQUIRE(group.at("versions").size() == real.at("versions").size());
      for (std::size_t v = 0; v < real.at("versions").size(); ++v) {
        const Json& version = real.at("versions")[v];
        for (Json resource : group.at("versions")[v].at("resources")) {
          Json expected = named(version.at("resources"), "resource", resource.at("resource"));
          REQUIRE(expected.is_object());
          // We serve fewer subresources than the real one; those we have must be the same.
          for (const Json& part : resource.value("subresources", Json::array())) {
            CHECK(part ==
                  named(expected.at("subresources"), "subresource", part.at("subresource")));
          }
          resource.erase("subresources");
          expected.erase("subresources");
          CHECK(resource == expected);
        }
      }
    }
  }
  const Json old = aggregated_discovery(table, DiscoveryRoot::kApi, DiscoveryVersion::kV2beta1);
  CHECK(old.at("apiVersion") == "apidiscovery.k8s.io/v2beta1");
}

TEST_CASE("A discovery ETag changes with the table") {
  KindTable table;
  const auto etag = [&] {
    return discovery_etag(aggregated_discovery(table, DiscoveryRoot::kApis, DiscoveryVersion::kV2));
  };
  const std::string before = etag();
  CHECK(before.size() == 130);
  CHECK(before.starts_with('"'));
  CHECK(before == etag());
  REQUIRE(table.put_crd(recorded().at("crds")[0]));
  CHECK(before != etag());
}

}  // namespace
}  // namespace amdahl::local

#include "local/apiserver/kinds/discovery.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "local/apiserver/kinds/digest.hpp"

namespace amdahl::local {

namespace {

Json group_version(std::string_view group, std::string_view version) {
  return {{"groupVersion", std::string(group) + "/" + std::string(version)}, {"version", version}};
}

Json group_entry(const KindTable& kinds, std::string_view group) {
  Json versions = Json::array();
  for (const std::string& version : kinds.versions(group)) {
    versions.push_back(group_version(group, version));
  }
  Json preferred = versions[0];
  return {{"name", group},
          {"versions", std::move(versions)},
          {"preferredVersion", std::move(preferred)}};
}

Json resource(const Kind& kind) {
  Json entry = {{"name", kind.plural},
                {"singularName", kind.singular},
                {"namespaced", kind.namespaced},
                {"kind", kind.kind},
                {"verbs", kind.verbs}};
  if (!kind.short_names.empty()) entry["shortNames"] = kind.short_names;
  if (!kind.categories.empty()) entry["categories"] = kind.categories;
  if (kind.can("list")) entry["storageVersionHash"] = storage_version_hash(kind);
  return entry;
}

Json subresource(const Kind& kind, const Subresource& part) {
  Json entry = {{"name", kind.plural + "/" + part.name},
                {"singularName", ""},
                {"namespaced", kind.namespaced},
                {"kind", part.kind},
                {"verbs", part.verbs}};
  if (!part.version.empty()) {
    entry["group"] = part.group;
    entry["version"] = part.version;
  }
  return entry;
}

// Custom resources name their own group and version here; built-in kinds leave both empty.
Json response_kind(const Kind& kind, const Subresource* part) {
  const bool foreign = part != nullptr && !part->version.empty();
  const std::string own_group = kind.builtin ? "" : kind.group;
  const std::string own_version = kind.builtin ? "" : kind.version;
  return {{"group", foreign ? part->group : own_group},
          {"version", foreign ? part->version : own_version},
          {"kind", part != nullptr ? part->kind : kind.kind}};
}

Json aggregated_resource(const Kind& kind) {
  Json entry = {{"resource", kind.plural},
                {"responseKind", response_kind(kind, nullptr)},
                {"scope", kind.namespaced ? "Namespaced" : "Cluster"},
                {"singularResource", kind.singular},
                {"verbs", kind.verbs}};
  if (!kind.short_names.empty()) entry["shortNames"] = kind.short_names;
  if (!kind.categories.empty()) entry["categories"] = kind.categories;
  for (const Subresource& part : kind.subresources) {
    entry["subresources"].push_back({{"subresource", part.name},
                                     {"responseKind", response_kind(kind, &part)},
                                     {"verbs", part.verbs}});
  }
  return entry;
}

Json aggregated_group(const KindTable& kinds, std::string_view group) {
  Json versions = Json::array();
  for (const std::string& version : kinds.versions(group)) {
    Json resources = Json::array();
    for (const KindPtr& kind : kinds.of(group, version)) {
      resources.push_back(aggregated_resource(*kind));
    }
    versions.push_back(
        {{"version", version}, {"resources", std::move(resources)}, {"freshness", "Current"}});
  }
  Json metadata = Json::object();
  if (!group.empty()) metadata["name"] = group;
  return {{"metadata", std::move(metadata)}, {"versions", std::move(versions)}};
}

}  // namespace

Json api_versions(std::string_view address) {
  return {{"kind", "APIVersions"},
          {"versions", Json::array({"v1"})},
          {"serverAddressByClientCIDRs",
           Json::array({{{"clientCIDR", "0.0.0.0/0"}, {"serverAddress", address}}})}};
}

Json api_group_list(const KindTable& kinds) {
  Json groups = Json::array();
  for (const std::string& group : kinds.groups()) groups.push_back(group_entry(kinds, group));
  return {{"kind", "APIGroupList"}, {"apiVersion", "v1"}, {"groups", std::move(groups)}};
}

std::optional<Json> api_group(const KindTable& kinds, std::string_view group) {
  if (group.empty() || kinds.versions(group).empty()) return std::nullopt;
  Json entry = group_entry(kinds, group);
  entry["kind"] = "APIGroup";
  entry["apiVersion"] = "v1";
  return entry;
}

std::optional<Json> api_resource_list(const KindTable& kinds, std::string_view group,
                                      std::string_view version) {
  const std::vector<KindPtr> served = kinds.of(group, version);
  if (served.empty()) return std::nullopt;
  Json resources = Json::array();
  for (const KindPtr& kind : served) {
    resources.push_back(resource(*kind));
    for (const Subresource& part : kind->subresources) {
      resources.push_back(subresource(*kind, part));
    }
  }
  Json body = {{"kind", "APIResourceList"},
               {"groupVersion", served.front()->api_version()},
               {"resources", std::move(resources)}};
  // Only the oldest path leaves the version out.
  if (!group.empty()) body["apiVersion"] = "v1";
  return body;
}

Json aggregated_discovery(const KindTable& kinds, DiscoveryRoot root, DiscoveryVersion version) {
  Json items = Json::array();
  if (root == DiscoveryRoot::kApi) {
    items.push_back(aggregated_group(kinds, ""));
  } else {
    for (const std::string& group : kinds.groups()) {
      items.push_back(aggregated_group(kinds, group));
    }
  }
  return {{"kind", "APIGroupDiscoveryList"},
          {"apiVersion", version == DiscoveryVersion::kV2 ? "apidiscovery.k8s.io/v2"
                                                          : "apidiscovery.k8s.io/v2beta1"},
          {"metadata", Json::object()},
          {"items", std::move(items)}};
}

std::string_view aggregated_content_type(DiscoveryVersion version) {
  return version == DiscoveryVersion::kV2
             ? "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
             : "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList";
}

std::string discovery_etag(const Json& body) {
  return "\"" + sha512_hex(body.dump()) + "\"";
}

std::string storage_version_hash(const Kind& kind) {
  // kube-apiserver still names the version that definitions were first stored in.
  const bool is_crd = kind.builtin && kind.kind == "CustomResourceDefinition";
  const std::string version = is_crd ? "v1beta1" : kind.storage_version;
  return base64_of_sha256(kind.storage_group + "/" + version + "/" + kind.kind, 8);
}

}  // namespace amdahl::local

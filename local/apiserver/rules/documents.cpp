// What is served besides objects: discovery, OpenAPI, the version.
#include <fmt/format.h>

#include "local/apiserver/kinds/discovery.hpp"
#include "local/apiserver/kinds/openapi.hpp"
#include "local/apiserver/rules/served_kinds.hpp"

namespace amdahl::local {
namespace {

constexpr std::string_view kOpenApi = "/openapi/v3";

// The first of the aggregated forms that the client accepts.
std::optional<DiscoveryVersion> aggregated(std::string_view accept) {
  const auto wants = [&](std::string_view version) {
    return accept.find(fmt::format("g=apidiscovery.k8s.io;v={};as=APIGroupDiscoveryList",
                                   version)) != std::string_view::npos;
  };
  if (wants("v2")) return DiscoveryVersion::kV2;
  if (wants("v2beta1")) return DiscoveryVersion::kV2beta1;
  return std::nullopt;
}

std::optional<Document> json_document(const std::optional<Json>& body) {
  if (!body) return std::nullopt;
  return Document{.body = body->dump() + "\n"};
}

// "apps/v1" -> {"apps", "v1"}; "apps" -> {"apps", ""}.
std::pair<std::string_view, std::string_view> split(std::string_view path) {
  const std::size_t slash = path.find('/');
  if (slash == std::string_view::npos) return {path, {}};
  return {path.substr(0, slash), path.substr(slash + 1)};
}

Json version_document() {
  return {{"major", "1"},    {"minor", "34"},       {"gitVersion", "v1.34.0+amdahl"},
          {"gitCommit", ""}, {"gitTreeState", ""},  {"buildDate", "1970-01-01T00:00:00Z"},
          {"goVersion", ""}, {"compiler", "clang"}, {"platform", "linux/amd64"}};
}

// kubectl asks the old form about kinds that the new one does not have. It has none either: without
// this document kubectl would blame the server and not say that the kind is unknown.
Document openapi_v2(std::string_view accept) {
  constexpr std::string_view kProtobuf =
      "\x0a\x03\x32.0"                             // swagger
      "\x12\x12\x0a\x0aKubernetes\x12\x04\x31.34"  // info: title, version
      "\x42";                                      // paths: none
  if (accept.find("proto-openapi.spec.v2") == std::string_view::npos)
    return {.body = R"({"swagger":"2.0","info":{"title":"Kubernetes","version":"1.34"},)"
                    R"("paths":{}})"};
  return {.content_type = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
          .body = std::string(kProtobuf) + '\0'};
}

std::optional<Document> groups(const KindTable& kinds, std::string_view path) {
  if (path == "/api/v1") return json_document(api_resource_list(kinds, "", "v1"));
  if (!path.starts_with("/apis/")) return std::nullopt;
  const auto [group, version] = split(path.substr(std::string_view("/apis/").size()));
  if (version.empty()) return json_document(api_group(kinds, group));
  return json_document(api_resource_list(kinds, group, version));
}

}  // namespace

std::optional<Document> ServedKinds::document(std::string_view path,
                                              std::string_view accept) const {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  if (path == "/version") return json_document(version_document());
  if (path == "/api" || path == "/apis") {
    const auto root = path == "/api" ? DiscoveryRoot::kApi : DiscoveryRoot::kApis;
    if (const auto version = aggregated(accept)) {
      auto document = json_document(aggregated_discovery(kinds_, root, *version));
      document->content_type = aggregated_content_type(*version);
      return document;
    }
    return json_document(path == "/api" ? api_versions(address_) : api_group_list(kinds_));
  }
  if (path == "/openapi/v2") return openapi_v2(accept);
  if (path == kOpenApi) return json_document(openapi_index(kinds_));
  if (!path.starts_with(kOpenApi)) return groups(kinds_, path);
  path.remove_prefix(kOpenApi.size());
  if (path == "/api/v1") return json_document(openapi_document(kinds_, schemas_, "", "v1"));
  if (!path.starts_with("/apis/")) return std::nullopt;
  const auto [group, version] = split(path.substr(std::string_view("/apis/").size()));
  return json_document(openapi_document(kinds_, schemas_, group, version));
}

}  // namespace amdahl::local

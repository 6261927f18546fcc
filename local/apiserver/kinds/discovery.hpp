// What the API server says about the kinds it serves: plain and aggregated discovery.
//
// Pure functions of the table; the bodies are those of kube-apiserver 1.34. Failure: none; a group
// or version that is not served gives an empty optional, which is HTTP 404.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "local/apiserver/kinds/kind.hpp"

namespace amdahl::local {

// GET /api; `address` is where clients reach the server: "127.0.0.1:6443".
Json api_versions(std::string_view address);
// GET /apis
Json api_group_list(const KindTable& kinds);
// GET /apis/<group>
std::optional<Json> api_group(const KindTable& kinds, std::string_view group);
// GET /api/v1 (group "") and /apis/<group>/<version>
std::optional<Json> api_resource_list(const KindTable& kinds, std::string_view group,
                                      std::string_view version);

enum class DiscoveryRoot : std::uint8_t { kApi, kApis };
enum class DiscoveryVersion : std::uint8_t { kV2, kV2beta1 };

// GET /api and /apis when the client accepts apidiscovery.k8s.io's APIGroupDiscoveryList.
Json aggregated_discovery(const KindTable& kinds, DiscoveryRoot root, DiscoveryVersion version);

// What an aggregated answer's Content-Type must be.
std::string_view aggregated_content_type(DiscoveryVersion version);
// The value of the ETag header, quotes included, for a body of aggregated_discovery().
std::string discovery_etag(const Json& body);

// base64 of the first 8 bytes of SHA-256 over "group/version/kind", as discovery shows it.
std::string storage_version_hash(const Kind& kind);

}  // namespace amdahl::local

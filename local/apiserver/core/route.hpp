// What a request's path means: a resource, a document, a health check.
//
// Pure. Failure: a bad percent-encoding is a Status; a path nobody serves is kUnknown.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "local/apiserver/core/status.hpp"

namespace amdahl::local {

inline constexpr std::size_t kTargetBytesMax = 64U << 10U;
inline constexpr std::size_t kPathSegmentsMax = 16;
inline constexpr std::size_t kParametersMax = 256;

enum class RouteKind : std::uint8_t { kResource, kDocument, kHealth, kMetrics, kUnknown };

struct Route {
  RouteKind kind = RouteKind::kUnknown;
  std::string path = {};  // decoded, without the query
  std::string group = {};
  std::string version = {};
  std::string ns = {};
  std::string plural = {};
  std::string name = {};
  std::string subresource = {};
  bool watch = false;  // the old way: /api/v1/watch/...
};

using Parameters = std::vector<std::pair<std::string, std::string>>;

struct Target {
  Route route = {};
  Parameters parameters = {};
};

Outcome<Target> parse_target(std::string_view target);

}  // namespace amdahl::local

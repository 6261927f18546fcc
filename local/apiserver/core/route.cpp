#include "local/apiserver/core/route.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include "base/http_message.hpp"

namespace amdahl::local {
namespace {

using Segments = std::span<const std::string>;

// A namespace is a resource whose subresources look like resources inside of it.
bool namespace_subresource(std::string_view text) {
  return text == "status" || text == "finalize";
}

// What follows the version: [namespaces/NS/]PLURAL[/NAME[/SUBRESOURCE]].
bool resource_path(Segments parts, Route& route) {
  if (parts.size() >= 3 && parts[0] == "namespaces" && !namespace_subresource(parts[2])) {
    route.ns = parts[1];
    parts = parts.subspan(2);
  }
  if (parts.empty() || parts.size() > 3) return false;
  if (std::ranges::any_of(parts, [](const std::string& part) { return part.empty(); }))
    return false;
  route.plural = parts[0];
  if (parts.size() > 1) route.name = parts[1];
  if (parts.size() > 2) route.subresource = parts[2];
  return true;
}

RouteKind api_path(Segments parts, Route& route) {
  const bool core = parts[0] == "api";
  const std::size_t prefix = core ? 2 : 3;
  if (parts.size() <= prefix) return RouteKind::kDocument;
  route.group = core ? "" : parts[1];
  route.version = parts[prefix - 1];
  parts = parts.subspan(prefix);
  if (parts[0] == "watch") {
    route.watch = true;
    parts = parts.subspan(1);
  }
  return resource_path(parts, route) ? RouteKind::kResource : RouteKind::kUnknown;
}

RouteKind classify(Segments parts, Route& route) {
  static constexpr std::array kHealth = {"healthz", "readyz", "livez"};
  if (parts.empty()) return RouteKind::kDocument;
  if (parts[0] == "api" || parts[0] == "apis") return api_path(parts, route);
  if (std::ranges::find(kHealth, parts[0]) != kHealth.end()) return RouteKind::kHealth;
  if (parts[0] == "metrics" && parts.size() == 1) return RouteKind::kMetrics;
  return RouteKind::kDocument;
}

Outcome<Route> parse_path(std::string_view text) {
  Route route;
  std::vector<std::string> parts;
  std::string_view rest = text.starts_with('/') ? text.substr(1) : text;
  while (!rest.empty()) {
    const std::size_t slash = rest.find('/');
    auto part = percent_decode(rest.substr(0, slash));
    if (!part) return bad_request(fmt::format("invalid URL escape in \"{}\"", text.substr(0, 256)));
    if (parts.size() == kPathSegmentsMax) return route;
    route.path += "/" + *part;
    parts.push_back(std::move(*part));
    rest = slash == std::string_view::npos ? std::string_view() : rest.substr(slash + 1);
  }
  if (route.path.empty()) route.path = "/";
  route.kind = classify(parts, route);
  return route;
}

Outcome<Parameters> parse_query(std::string_view text) {
  Parameters parameters;
  while (!text.empty()) {
    const std::size_t end = text.find('&');
    const std::string_view one = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    if (one.empty()) continue;
    const std::size_t equals = one.find('=');
    auto key = percent_decode(one.substr(0, equals), true);
    auto value = equals == std::string_view::npos ? std::string()
                                                  : percent_decode(one.substr(equals + 1), true);
    if (!key || !value) return bad_request("invalid URL escape in the query");
    if (parameters.size() == kParametersMax)
      return bad_request(fmt::format("more than {} query parameters", kParametersMax));
    parameters.emplace_back(std::move(*key), std::move(*value));
  }
  return parameters;
}

}  // namespace

Outcome<Target> parse_target(std::string_view target) {
  if (target.size() > kTargetBytesMax)
    return Status{.code = 414,
                  .reason = "BadRequest",
                  .message = fmt::format("the request URI is longer than {}", kTargetBytesMax)};
  const std::size_t question = target.find('?');
  Target parsed;
  OUTCOME_TRY(parsed.route, parse_path(target.substr(0, question)));
  if (question != std::string_view::npos) {
    OUTCOME_TRY(parsed.parameters, parse_query(target.substr(question + 1)));
  }
  return parsed;
}

}  // namespace amdahl::local

#include "local/apiserver/core/continue_token.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "local/apiserver/core/metadata.hpp"
#include "local/apiserver/core/stored_object.hpp"
#include "operator/kube/base64.hpp"

namespace amdahl::local {
namespace {

constexpr std::string_view kTokenVersion = "meta.k8s.io/v1";
constexpr std::size_t kTokenBytesMax = 4096;

// No empty, "." or ".." part: nothing that another server would clean up to another key.
bool clean(std::string_view path) {
  if (path.starts_with('/')) path.remove_prefix(1);
  while (true) {
    const std::size_t slash = path.find('/');
    const std::string_view part = path.substr(0, slash);
    if (part.empty() || part == "." || part == "..") return false;
    if (slash == std::string_view::npos) return true;
    path.remove_prefix(slash + 1);
  }
}

}  // namespace

std::string encode(const ContinueToken& token) {
  const Json json = {{"v", kTokenVersion}, {"rv", token.version}, {"start", token.start}};
  std::string text = kube::base64_encode(json_text(json));
  std::ranges::replace(text, '+', '-');
  std::ranges::replace(text, '/', '_');
  std::erase(text, '=');
  return text;
}

Outcome<ContinueToken> decode_continue(std::string_view text) {
  const Status bad = bad_request("continue key is not valid");
  if (text.size() > kTokenBytesMax) return bad;
  std::string base64(text);
  std::ranges::replace(base64, '-', '+');
  std::ranges::replace(base64, '_', '/');
  base64.append((4 - base64.size() % 4) % 4, '=');
  const auto bytes = kube::base64_decode(base64);
  const Json json = bytes ? Json::parse(*bytes, nullptr, false) : Json();
  if (!json.is_object()) return bad;
  if (const std::string version = text_at(json, "v"); version != kTokenVersion)
    return bad_request(fmt::format(
        "continue key is not valid: server does not recognize this encoded version {}", version));
  const ContinueToken token{.version = number_at(json, "rv").value_or(0),
                            .start = text_at(json, "start")};
  if (token.version == 0 || token.version < -1)
    return bad_request(
        "continue key is not valid: incorrect encoded start resourceVersion (version "
        "meta.k8s.io/v1)");
  if (token.start.empty())
    return bad_request(
        "continue key is not valid: encoded start key empty (version meta.k8s.io/v1)");
  if (!clean(token.start)) return bad;
  return token;
}

}  // namespace amdahl::local

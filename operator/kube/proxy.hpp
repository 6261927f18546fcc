// Which proxy, if any, a connection goes through (C5). Follows golang.org/x/net/http/httpproxy.
//
// Pure. Failure: Errc::kInvalid for a proxy address that does not parse or is not http(s).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "operator/kube/config.hpp"

namespace amdahl::kube {

struct ProxyTarget {
  bool tls = false;       // https:// proxy: TLS to the proxy, then CONNECT inside
  std::string host = {};  // without brackets
  std::uint16_t port = 80;
  std::string authorization =
      {};                   // value of Proxy-Authorization, "Basic ..."; a secret; may be empty
  std::string origin = {};  // "proxy-url" or "HTTPS_PROXY", for messages
  bool operator==(const ProxyTarget&) const = default;
};

// No value: connect directly. proxy-url of the kubeconfig is used whatever NO_PROXY says.
Result<std::optional<ProxyTarget>> choose_proxy(const Url& url, const Environment& environment,
                                                std::string_view config_proxy_url);
Result<std::optional<ProxyTarget>> choose_proxy(const Config& config,
                                                const Environment& environment);

}  // namespace amdahl::kube

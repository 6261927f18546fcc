#include "operator/kube/proxy.hpp"

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/network_v4.hpp>
#include <boost/asio/ip/network_v6.hpp>
#include <charconv>
#include <ranges>

#include "operator/kube/base64.hpp"

namespace amdahl::kube {
namespace {

namespace ip = boost::asio::ip;

std::string_view trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::string to_lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  return lower;
}

// An IPv4 address written as IPv6 is the same address.
std::optional<ip::address> parse_address(std::string_view text) {
  boost::system::error_code error;
  ip::address address = ip::make_address(std::string(text), error);
  if (error) return std::nullopt;
  if (address.is_v6() && address.to_v6().is_v4_mapped())
    return ip::make_address_v4(ip::v4_mapped, address.to_v6());
  return address;
}

template <class Network, class Address>
bool contains(const Network& network, const Address& address) {
  return Network(address, network.prefix_length()).canonical() == network.canonical();
}

// "10.0.0.0/8" or "fd00::/8"; no value when the text is not a network at all.
std::optional<bool> in_network(const std::string& text, const std::optional<ip::address>& address) {
  if (text.find('/') == std::string::npos) return std::nullopt;
  boost::system::error_code error;
  if (const auto v4 = ip::make_network_v4(text, error); !error)
    return address && address->is_v4() && contains(v4, address->to_v4());
  if (const auto v6 = ip::make_network_v6(text, error); !error)
    return address && address->is_v6() && contains(v6, address->to_v6());
  return std::nullopt;
}

struct HostPort {
  std::string_view host = {};
  std::optional<std::uint16_t> port = {};  // none: any port
};

// "host", "host:443", "[::1]:443", "::1". A bare IPv6 address has colons but no port.
HostPort split_port(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  const bool bracketed = text.starts_with('[');
  const bool one_colon = colon != std::string_view::npos && text.find(':') == colon;
  HostPort result{.host = text, .port = std::nullopt};
  if (one_colon || (bracketed && colon != std::string_view::npos && text[colon - 1] == ']')) {
    std::uint16_t port = 0;
    const std::string_view digits = text.substr(colon + 1);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
    if (error == std::errc{} && end == digits.data() + digits.size()) {
      result.host = text.substr(0, colon);
      result.port = port;
    }
  }
  if (result.host.starts_with('[') && result.host.ends_with(']'))
    result.host = result.host.substr(1, result.host.size() - 2);
  return result;
}

// ".example.com" and "*.example.com" are what is below; "example.com" is that and itself.
bool in_domain(std::string_view host, std::string_view rule) {
  if (rule.starts_with("*.")) rule.remove_prefix(1);
  if (rule.starts_with('.')) return host.ends_with(rule);
  return host == rule || (host.ends_with(rule) && host[host.size() - rule.size() - 1] == '.');
}

bool rule_matches(std::string_view rule_text, const Url& url,
                  const std::optional<ip::address>& address) {
  const std::string rule = to_lower(trim(rule_text));
  if (rule.empty()) return false;
  if (rule == "*") return true;
  if (const auto inside = in_network(rule, address)) return *inside;
  const HostPort target = split_port(rule);
  if (target.host.empty() || (target.port && *target.port != url.port)) return false;
  if (const auto rule_address = parse_address(target.host)) return address == rule_address;
  return in_domain(url.host, target.host);
}

bool goes_direct(const Url& url, std::string_view no_proxy) {
  const auto address = parse_address(url.host);
  if (url.host == "localhost" || (address && address->is_loopback())) return true;
  return std::ranges::any_of(std::views::split(no_proxy, ','), [&](const auto rule) {
    return rule_matches(std::string_view(rule.begin(), rule.end()), url, address);
  });
}

Result<ProxyTarget> parse_proxy(std::string text, std::string origin) {
  const std::size_t scheme_end = text.find("://");
  const std::string scheme =
      to_lower(std::string_view(text).substr(0, scheme_end == std::string::npos ? 0 : scheme_end));
  if (scheme.starts_with("socks"))
    return fail(Errc::kInvalid, "{}: {} proxies are not supported; use an http or https proxy",
                origin, scheme);
  // "proxy.corp:3128" means http, as curl and Go have it.
  auto url = parse_url(scheme_end == std::string::npos ? "http://" + text : text);
  if (!url) return wrap(std::move(url).error(), "{}", origin);
  ProxyTarget target{.tls = url->tls(),
                     .host = url->host,
                     .port = url->port,
                     .authorization = {},
                     .origin = std::move(origin)};
  if (!url->user.empty() || !url->password.empty())
    target.authorization = "Basic " + base64_encode(url->user + ":" + url->password);
  return target;
}

struct Variable {
  std::string name = {};
  std::string value = {};
};

// The upper-case name wins when both are set.
Variable either(const Environment& environment, std::string_view upper) {
  for (const std::string& name : {std::string(upper), to_lower(upper)})
    if (auto value = environment.get(name)) return {.name = name, .value = std::move(*value)};
  return {};
}

}  // namespace

Result<std::optional<ProxyTarget>> choose_proxy(const Url& url, const Environment& environment,
                                                std::string_view config_proxy_url) {
  if (!config_proxy_url.empty()) {
    TRY(auto target, parse_proxy(std::string(config_proxy_url), "proxy-url"));
    return target;
  }
  Variable proxy = either(environment, url.tls() ? "HTTPS_PROXY" : "HTTP_PROXY");
  if (proxy.value.empty() || goes_direct(url, either(environment, "NO_PROXY").value))
    return std::nullopt;
  TRY(auto target, parse_proxy(std::move(proxy.value), std::move(proxy.name)));
  return target;
}

Result<std::optional<ProxyTarget>> choose_proxy(const Config& config,
                                                const Environment& environment) {
  if (config.bypass_proxy) return std::nullopt;
  return choose_proxy(config.server, environment, config.proxy_url);
}

}  // namespace amdahl::kube

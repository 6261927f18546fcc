#include "operator/kube/in_cluster.hpp"

namespace amdahl::kube {
namespace {

constexpr std::size_t kNamespaceFileMax = 4096;

std::string trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1));
}

// POD_NAMESPACE, then the mounted file, then "default": the order of client-go.
std::string namespace_of_pod(const Environment& environment, const std::string& dir) {
  if (auto ns = environment.get("POD_NAMESPACE")) return *ns;
  const auto text = environment.read_file(dir + "/namespace", kNamespaceFileMax);
  const std::string ns = text ? trimmed(*text) : "";
  return ns.empty() ? "default" : ns;
}

}  // namespace

Result<Config> in_cluster_config(const Environment& environment,
                                 const std::string& service_account_dir) {
  const auto host = environment.get("KUBERNETES_SERVICE_HOST");
  const auto port = environment.get("KUBERNETES_SERVICE_PORT");
  if (!host || !port)
    return fail(Errc::kNotFound,
                "not in a pod: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set");

  const bool ipv6 = host->find(':') != std::string::npos && !host->starts_with('[');
  const std::string address = ipv6 ? fmt::format("https://[{}]:{}", *host, *port)
                                   : fmt::format("https://{}:{}", *host, *port);
  auto server = parse_url(address);
  if (!server)
    return wrap(std::move(server).error(), "KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT");

  const std::string token_path = service_account_dir + "/token";
  // Only asks whether it is there: credentials.hpp reads it whenever it needs it.
  if (auto token = environment.read_file(token_path, kCredentialFileMax); !token)
    return wrap(std::move(token).error(),
                "service account token (is automountServiceAccountToken off?)");

  Config config{.server = std::move(*server)};
  config.ns = namespace_of_pod(environment, service_account_dir);
  config.auth = TokenFile{.path = token_path};
  config.bypass_proxy = true;
  config.source = "service account in " + service_account_dir;
  const std::string ca_path = service_account_dir + "/ca.crt";
  if (environment.read_file(ca_path, kCredentialFileMax))
    config.tls.ca.file = ca_path;
  else
    config.warnings.push_back(
        fmt::format("{} cannot be read; the server is verified with the system's roots", ca_path));
  return config;
}

}  // namespace amdahl::kube

// The fields of cluster and user entries. What kubectl has dropped is refused with the way out.
#include <nlohmann/json.hpp>

#include "operator/kube/kubeconfig_entry.hpp"

namespace amdahl::kube {
namespace {

constexpr std::string_view kExecV1 = "client.authentication.k8s.io/v1";
constexpr std::string_view kExecV1Beta1 = "client.authentication.k8s.io/v1beta1";
constexpr std::string_view kExecExtension = "client.authentication.k8s.io/exec";

Result<InteractiveMode> decode_interactive_mode(const KubeconfigEntry& exec, bool required) {
  TRY(auto word, exec.text("interactiveMode"));
  if (word == "Never") return InteractiveMode::kNever;
  if (word == "IfAvailable" || (word.empty() && !required)) return InteractiveMode::kIfAvailable;
  if (word == "Always") return InteractiveMode::kAlways;
  return exec.refuse("interactiveMode", "expected Never, IfAvailable or Always");
}

Result<std::vector<ExecVariable>> decode_exec_variables(const KubeconfigEntry& exec) {
  std::vector<ExecVariable> variables;
  TRY(auto entries, exec.entries("env"));
  for (const KubeconfigEntry& entry : entries) {
    ExecVariable variable;
    TRY(variable.name, entry.text("name"));
    TRY(variable.value, entry.text("value"));
    if (variable.name.empty() || variable.name.find('=') != std::string::npos)
      return entry.refuse("name", "expected the name of a variable");
    variables.push_back(std::move(variable));
  }
  return variables;
}

Result<ExecSpec> decode_exec(const KubeconfigEntry& exec) {
  ExecSpec spec;
  TRY(spec.command, exec.text("command"));
  if (spec.command.empty()) return exec.refuse("command", "missing");
  // Without a slash the command is looked up in PATH later.
  if (spec.command.find('/') != std::string::npos) spec.command = exec.resolve(spec.command);
  TRY(spec.arguments, exec.texts("args"));
  TRY(spec.variables, decode_exec_variables(exec));
  TRY(spec.install_hint, exec.text("installHint"));
  TRY(spec.provide_cluster_info, exec.flag("provideClusterInfo"));
  TRY(spec.api_version, exec.text("apiVersion"));
  if (spec.api_version != kExecV1 && spec.api_version != kExecV1Beta1)
    return exec.refuse("apiVersion", fmt::format("expected {} or {}; update the plugin and this "
                                                 "file (v1alpha1 is gone since Kubernetes 1.24)",
                                                 kExecV1, kExecV1Beta1));
  TRY(spec.interactive, decode_interactive_mode(exec, spec.api_version == kExecV1));
  return spec;
}

Result<AuthConfig> decode_auth(const KubeconfigEntry& user) {
  if (user.has("auth-provider"))
    return user.refuse("auth-provider",
                       "removed in Kubernetes 1.26; use an exec plugin instead (on GKE: install "
                       "gke-gcloud-auth-plugin, then gcloud container clusters get-credentials)");
  if (user.has("username") || user.has("password"))
    return user.refuse(user.has("username") ? "username" : "password",
                       "basic authentication is gone since Kubernetes 1.19; use a token, a client "
                       "certificate or an exec plugin");
  TRY(auto token, user.text("token"));
  TRY(auto token_file, user.path("tokenFile"));
  if (!token_file.empty()) return TokenFile{.path = token_file, .initial = token};
  if (!token.empty()) return StaticToken{.token = token};
  if (!user.has("exec")) return AuthConfig();
  TRY(auto exec, user.entry("exec"));
  TRY(auto spec, decode_exec(exec));
  return spec;
}

Result<Impersonation> decode_impersonation(const KubeconfigEntry& user) {
  Impersonation as;
  TRY(as.user, user.text("as"));
  TRY(as.uid, user.text("as-uid"));
  TRY(as.groups, user.texts("as-groups"));
  TRY(as.extra, user.text_lists("as-user-extra"));
  if (as.user.empty() && as != Impersonation{})
    return user.refuse("as", "as-uid, as-groups and as-user-extra need a user to act as");
  return as;
}

}  // namespace

Result<void> decode_cluster(const KubeconfigEntry& cluster, Config& config) {
  TRY(auto server, cluster.text("server"));
  if (server.empty()) return cluster.refuse("server", "missing");
  auto url = parse_url(server);
  if (!url) return cluster.refuse("server", url.error().context);
  if (!url->user.empty() || !url->password.empty())
    return cluster.refuse("server", "a user or password in the address is not supported");
  config.server = std::move(*url);
  TRY(config.tls.ca, cluster.pem("certificate-authority"));
  TRY(config.tls.insecure, cluster.flag("insecure-skip-tls-verify"));
  TRY(config.tls.server_name, cluster.text("tls-server-name"));
  TRY(config.proxy_url, cluster.text("proxy-url"));
  if (config.tls.insecure && !config.tls.ca.empty())
    return cluster.refuse("insecure-skip-tls-verify",
                          "contradicts certificate-authority; remove one of them");
  if (config.tls.insecure)
    config.warnings.push_back(
        fmt::format("INSECURE: {} of {} sets insecure-skip-tls-verify; anybody on the network path "
                    "to {} can read and change everything",
                    cluster.what(), cluster.file(), to_string(config.server)));
  return {};
}

Result<void> decode_user(const KubeconfigEntry& user, Config& config) {
  TRY(config.auth, decode_auth(user));
  TRY(config.impersonate, decode_impersonation(user));
  TRY(config.tls.certificate, user.pem("client-certificate"));
  TRY(config.tls.key, user.pem("client-key"));
  if (config.tls.certificate.empty() != config.tls.key.empty())
    return user.refuse(config.tls.key.empty() ? "client-key" : "client-certificate",
                       "missing; a client certificate needs both");
  return {};
}

Result<void> decode_exec_extension(const KubeconfigEntry& cluster, ExecSpec& spec) {
  TRY(auto extensions, cluster.entries("extensions"));
  for (const KubeconfigEntry& extension : extensions) {
    TRY(auto name, extension.text("name"));
    const YamlNode* body = extension.node().find("extension");
    if (name != kExecExtension || body == nullptr) continue;
    // Text that is not UTF-8 becomes U+FFFD here instead of an exception.
    spec.cluster_json =
        to_json(*body).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }
  return {};
}

}  // namespace amdahl::kube

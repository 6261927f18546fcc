// The pure half of exec_plugin.hpp: what goes into a plugin, what comes out, which may run.
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/json_decode.hpp"
#include "operator/kube/base64.hpp"
#include "operator/kube/exec_plugin.hpp"
#include "operator/kube/kubeconfig.hpp"

namespace amdahl::kube {
namespace {

struct PrintedStatus {
  std::string token = {};
  std::string certificate = {};
  std::string key = {};
  std::optional<WallTime> expires = {};
};

template <class V>
constexpr void fields(V& v, PrintedStatus& status) {
  v.optional("token", status.token);
  v.optional("clientCertificateData", status.certificate);
  v.optional("clientKeyData", status.key);
  v.optional("expirationTimestamp", status.expires);
}

struct PrintedCredential {
  std::string api_version = {};
  std::string kind = {};
  std::optional<PrintedStatus> status = {};
};

template <class V>
constexpr void fields(V& v, PrintedCredential& credential) {
  v.required("apiVersion", credential.api_version);
  v.required("kind", credential.kind);
  v.optional("status", credential.status);
}

// A path that may be executed, or nothing. Names are looked up in the absolute parts of PATH, so
// that a file in the current directory is never run by accident.
std::string locate(const std::string& command, const Environment& environment) {
  const auto executable = [](const std::string& path) {
    std::error_code error;
    return std::filesystem::is_regular_file(path, error) && ::access(path.c_str(), X_OK) == 0;
  };
  if (command.contains('/')) return executable(command) ? command : "";
  for (const std::string& directory : split_path_list(environment.get("PATH").value_or(""))) {
    const std::string path = directory + "/" + command;
    if (directory.starts_with('/') && executable(path)) return path;
  }
  return "";
}

}  // namespace

Result<ExecCredential> parse_exec_credential(std::string_view json, std::string_view api_version,
                                             WallTime now) {
  auto printed = decode<PrintedCredential>(json);
  if (!printed) return wrap(std::move(printed).error(), "its output is not an ExecCredential");
  if (printed->kind != "ExecCredential")
    return fail(Errc::kInvalid, "its output is not an ExecCredential but another kind");
  if (printed->api_version != api_version)
    return fail(Errc::kInvalid,
                "it answered in another apiVersion than {}, which the kubeconfig names; update the "
                "plugin or the kubeconfig",
                api_version);
  if (!printed->status) return fail(Errc::kInvalid, "its output has no status");
  PrintedStatus& status = *printed->status;
  if (status.certificate.empty() != status.key.empty())
    return fail(Errc::kInvalid, "its output has a certificate or a key, but not both");
  if (status.token.empty() && status.certificate.empty())
    return fail(Errc::kInvalid, "its output has neither a token nor a certificate");
  if (!status.token.empty()) {
    TRY(status.token, clean_token(status.token));
  }
  if (status.expires && *status.expires <= now)
    return fail(Errc::kUnauthorized,
                "its credential expired at {}, and this machine's clock says {}; log in again, or "
                "set the clock",
                format_time(*status.expires), format_time(now));
  return ExecCredential{.token = std::move(status.token),
                        .certificate = std::move(status.certificate),
                        .key = std::move(status.key),
                        .expires = status.expires};
}

std::string exec_info(const Config& config, const std::string& ca_pem, bool interactive) {
  const auto& spec = std::get<ExecSpec>(config.auth);
  nlohmann::json info = {{"apiVersion", spec.api_version},
                         {"kind", "ExecCredential"},
                         {"spec", {{"interactive", interactive}}}};
  if (spec.provide_cluster_info) {
    nlohmann::json cluster = {{"server", to_string(config.server)}};
    if (!config.tls.server_name.empty()) cluster["tls-server-name"] = config.tls.server_name;
    if (config.tls.insecure) cluster["insecure-skip-tls-verify"] = true;
    if (!ca_pem.empty()) cluster["certificate-authority-data"] = base64_encode(ca_pem);
    if (!config.proxy_url.empty()) cluster["proxy-url"] = config.proxy_url;
    if (!spec.cluster_json.empty())
      cluster["config"] = nlohmann::json::parse(spec.cluster_json, nullptr, false);
    info["spec"]["cluster"] = std::move(cluster);
  }
  return info.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Result<bool> plugin_interacts(const ExecSpec& spec, const Environment& environment) {
  if (spec.interactive == InteractiveMode::kNever) return false;
  if (spec.interactive == InteractiveMode::kAlways && !environment.terminal)
    return fail(Errc::kUnauthorized,
                "it cannot ask its questions (interactiveMode: Always): standard input is not a "
                "terminal; log in from a terminal, or use another kind of credential here");
  return environment.terminal;
}

Result<std::string> find_plugin(const ExecSpec& spec, const ExecPolicy& policy,
                                const Environment& environment) {
  std::string path = locate(spec.command, environment);
  if (path.empty())
    return fail(Errc::kNotFound, "{} {}",
                spec.command.contains('/') ? "there is no such program."
                                           : "there is no such program in PATH.",
                spec.install_hint.empty() ? "Install it, or use another kind of credential"
                                          : spec.install_hint.substr(0, kInstallHintMax));
  const auto permits = [&](const std::string& entry) {
    return entry == path || locate(entry, environment) == path;
  };
  if (!policy.allow_all && std::ranges::none_of(policy.allowed, permits))
    return fail(Errc::kForbidden, "{} is not in the list of permitted plugins", path);
  return path;
}

}  // namespace amdahl::kube

// How to reach one API server and as whom: the value that kubeconfig.hpp and in_cluster.hpp make
// and that transport, credentials and proxy read.
//
// Plain data. Token, key and password fields are secrets: nothing here is formatted as a whole.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "base/result.hpp"
#include "operator/kube/environment.hpp"
#include "operator/kube/url.hpp"

namespace amdahl::kube {

inline constexpr std::size_t kCredentialFileMax = std::size_t{1} << 20;  // token, certificate, key
inline constexpr std::string_view kServiceAccountDir =
    "/var/run/secrets/kubernetes.io/serviceaccount";

// PEM text, inline or in a file that is read again when it changes. Inline data wins (C3).
struct PemSource {
  std::string data = {};
  std::string file = {};
  bool empty() const { return data.empty() && file.empty(); }
  bool operator==(const PemSource&) const = default;
};

struct TlsConfig {
  PemSource ca = {};           // empty: the system's own roots
  PemSource certificate = {};  // of the client; empty: none
  PemSource key = {};
  std::string server_name = {};  // verified and sent as SNI instead of the host; empty: the host
  bool insecure = false;         // no verification at all
};

struct StaticToken {
  std::string token = {};
};

struct TokenFile {
  std::string path = {};
  std::string initial = {};  // used until the file has been read once; may be empty
};

enum class InteractiveMode : std::uint8_t { kNever, kIfAvailable, kAlways };

struct ExecVariable {
  std::string name = {};
  std::string value = {};
  bool operator==(const ExecVariable&) const = default;
};

// users[].user.exec. A command with a slash is absolute by now; one without is looked up in PATH.
struct ExecSpec {
  std::string command = {};
  std::vector<std::string> arguments = {};
  std::vector<ExecVariable> variables = {};
  std::string api_version = {};
  std::string install_hint = {};
  std::string cluster_json = {};  // the exec extension of the cluster entry; may be empty
  InteractiveMode interactive = InteractiveMode::kIfAvailable;
  bool provide_cluster_info = false;
};

using AuthConfig = std::variant<std::monostate, StaticToken, TokenFile, ExecSpec>;

struct Impersonation {
  std::string user = {};
  std::string uid = {};
  std::vector<std::string> groups = {};
  std::map<std::string, std::vector<std::string>> extra = {};
  bool operator==(const Impersonation&) const = default;
};

// Which exec plugins may run at all (C4). An entry is a name to look up in PATH, or a path.
struct ExecPolicy {
  bool allow_all = true;
  std::vector<std::string> allowed = {};  // when not all
};

struct Config {
  Url server = {};
  std::string ns = "default";
  TlsConfig tls = {};
  AuthConfig auth = {};
  ExecPolicy exec_policy = {};
  Impersonation impersonate = {};
  std::string proxy_url = {};              // of the cluster entry; wins over the environment
  bool bypass_proxy = false;               // the in-cluster address (C5)
  std::string source = {};                 // "context dev of /home/ann/.kube/config", for messages
  std::vector<std::string> warnings = {};  // for the log, once, at start
};

struct ConfigOptions {
  std::string kubeconfig = {};  // --kubeconfig; empty: not given
  std::string context = {};     // --context; empty: the file's current-context
  std::string ns = {};          // --namespace; empty: the context's own
  ExecPolicy exec_policy = {};
  std::string service_account_dir = std::string(kServiceAccountDir);
};

// In this order, as controller-runtime does: the path given, the files of KUBECONFIG, the service
// account of the pod this runs in, ~/.kube/config.
Result<Config> load_config(const ConfigOptions& options, const Environment& environment);

}  // namespace amdahl::kube

// Credentials from a program that kubeconfig names, such as gke-gcloud-auth-plugin (C4).
//
// Thread: one. Lifetime: as credentials.hpp says; a run that is still going lives in the task group
// and needs nothing of this object. Failure: an error that names the plugin and what to do; after
// one, the plugin is left alone for kExecPause and callers get the same error.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "operator/kube/credentials.hpp"
#include "operator/kube/subprocess.hpp"

namespace amdahl::kube {

inline constexpr std::size_t kExecOutputMax = std::size_t{1} << 20;
inline constexpr std::size_t kExecErrorTextMax = 4096;
inline constexpr std::size_t kInstallHintMax = 2048;
inline constexpr std::chrono::seconds kExecTimeMax{60};
inline constexpr std::chrono::seconds kExecInteractiveTimeMax{300};  // somebody has to type
inline constexpr std::chrono::seconds kExecLeeway{10};
inline constexpr std::chrono::seconds kExecPause{2};

struct ExecCredential {
  std::string token = {};
  std::string certificate = {};  // PEM; with `key` or not at all
  std::string key = {};
  std::optional<WallTime> expires = {};
};

// What a plugin printed. Pure; errors name fields and never quote values.
Result<ExecCredential> parse_exec_credential(std::string_view json, std::string_view api_version,
                                             WallTime now);

// The value of KUBERNETES_EXEC_INFO. Pure; config.auth is an ExecSpec.
std::string exec_info(const Config& config, const std::string& ca_pem, bool interactive);

// Whether the plugin gets the terminal; an error when it insists and there is none. Pure.
Result<bool> plugin_interacts(const ExecSpec& spec, const Environment& environment);

// The path of the program, if the policy lets it run.
Result<std::string> find_plugin(const ExecSpec& spec, const ExecPolicy& policy,
                                const Environment& environment);

class ExecPlugin final : public TokenSource {
 public:
  using Runner = std::function<Task<Result<SubprocessOutcome>>(SubprocessSpec, Clock&, Monotonic)>;

  ExecPlugin(const Config& config, const Environment& environment, CredentialsContext context,
             Runner runner = run_subprocess);
  // Concurrent callers share one run. A caller that gives up does not stop the run.
  Task<Result<std::string>> token(Monotonic deadline) override;
  void rejected(Monotonic request_start) override;

 private:
  struct State;
  struct Flight;
  struct FlightEnd;
  static Task<Result<ExecCredential>> run(std::shared_ptr<State> state);
  static Task<void> fly(std::shared_ptr<State> state, FlightEnd end);
  bool fresh() const;
  void start_run();

  std::shared_ptr<State> state_;
};

}  // namespace amdahl::kube

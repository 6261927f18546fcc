// The command line of amdahl-operator.
//
// Pure. Failure: Reading::error says what is wrong with which flag.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "operator/process/operator_process.hpp"

namespace amdahl {

struct OperatorSettings {
  std::string kubeconfig = {};  // empty: KUBECONFIG, the pod's account, ~/.kube/config
  std::string context = {};
  std::string ns = {};  // watched; empty: all
  bool elect = true;
  std::string lease_namespace = {};  // empty: that of the pod or of the context
  std::string lease_name = "amdahl-operator";
  std::string probe_address = "127.0.0.1:8081";
  std::string report_address = "127.0.0.1:8082";
  std::string metrics_address = {};  // empty: that of the probes
  bool guard_metrics = true;         // off loopback
  std::string report_url = {};
  bool allow_plain_reports = false;
  std::string report_certificate = {};  // with report_key: TLS
  std::string report_key = {};
  std::string pod = {};  // "NAMESPACE/NAME"
  training::PodOptions pods = {};
};

struct Reading {
  std::optional<OperatorSettings> settings = {};
  std::string help = {};   // asked for
  std::string error = {};  // wrong usage
};
Reading read_settings(std::span<const char* const> words);

// `ns` is that of the session, `identity` unique for this start. Errors name the flag.
Result<OperatorOptions> operator_options(const OperatorSettings& settings, std::string ns,
                                         std::string identity);

}  // namespace amdahl

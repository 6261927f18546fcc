#include "operator/process/settings.hpp"

#include <CLI/CLI.hpp>
#include <charconv>

#include "base/loopback.hpp"

namespace amdahl {
namespace {

// Shorter than the 15, 10 and 2 seconds that are usual: while nobody leads, nobody takes reports,
// and ranks shall not be silent for more than 15 seconds.
constexpr controller::LeaseTimings kLeaseTimings{.lease = std::chrono::seconds{5},
                                                 .renew = std::chrono::seconds{4},
                                                 .retry = std::chrono::seconds{1}};

constexpr const char* kFooter =
    "Examples:\n"
    "  amdahl-operator                              the cluster of KUBECONFIG, all namespaces\n"
    "  amdahl-operator --namespace research --no-leader-election\n"
    "  amdahl-operator --report-address 0.0.0.0:8443 --report-cert tls.crt --report-key tls.key\n"
    "      --report-url https://amdahl-operator.amdahl-system:8443 --launch-image IMAGE\n"
    "\nReports of pods need a way from them to this process: without --report-url they are sent "
    "to\n"
    "--report-address. Exit codes: 0 stopped, 1 failed or no longer the leader, 2 wrong usage.\n";

void add_cluster_flags(CLI::App& app, OperatorSettings& settings) {
  app.add_option("--kubeconfig", settings.kubeconfig, "instead of KUBECONFIG")->type_name("PATH");
  app.add_option("--context", settings.context, "of the kubeconfig")->type_name("NAME");
  app.add_option("-n,--namespace", settings.ns, "only jobs of this namespace; default: all")
      ->type_name("NAME");
  app.add_flag("!--no-leader-election", settings.elect,
               "do not wait for a lease: the only replica");
  app.add_option("--lease-namespace", settings.lease_namespace, "default: its own namespace")
      ->type_name("NAME");
  app.add_option("--lease-name", settings.lease_name)->type_name("NAME")->capture_default_str();
  app.add_option("--pod", settings.pod,
                 "its own pod: labelled amdahl.dev/leader=true while it leads, for the Service "
                 "that pods report to")
      ->type_name("NAMESPACE/NAME");
}

void add_address_flags(CLI::App& app, OperatorSettings& settings) {
  app.add_option("--probe-address", settings.probe_address, "/livez, /readyz and /metrics")
      ->type_name("HOST:PORT")
      ->capture_default_str();
  app.add_option("--metrics-address", settings.metrics_address,
                 "serve /metrics here instead, with TLS if there is a --report-cert")
      ->type_name("HOST:PORT");
  app.add_flag("!--no-metrics-auth", settings.guard_metrics,
               "let everybody read metrics; otherwise, except on loopback, readers show a token "
               "of an account that may get /metrics");
  app.add_option("--report-address", settings.report_address, "where pods report to")
      ->type_name("HOST:PORT")
      ->capture_default_str();
  app.add_option("--report-url", settings.report_url, "how pods reach that, without a path")
      ->type_name("URL");
  app.add_flag("--allow-plain-reports", settings.allow_plain_reports,
               "let pods send their tokens over plain HTTP: everybody on the way can read them");
  CLI::Option* certificate =
      app.add_option("--report-cert", settings.report_certificate, "PEM: serve it with TLS")
          ->type_name("FILE");
  CLI::Option* key =
      app.add_option("--report-key", settings.report_key, "of --report-cert")->type_name("FILE");
  certificate->needs(key);
  key->needs(certificate);
}

void add_pod_flags(CLI::App& app, OperatorSettings& settings) {
  app.add_option("--launch-image", settings.pods.launch_image, "image that holds amdahl-launch")
      ->type_name("IMAGE");
  app.add_option("--launch-path", settings.pods.launch_path,
                 "amdahl-launch as pods find it, when it is on every node or in every image")
      ->type_name("PATH");
  app.add_option("--report-ca", settings.pods.report_ca,
                 "ConfigMap with ca.crt in each job's namespace, by which pods know --report-url")
      ->type_name("NAME");
  app.add_option("--allow-service-account", settings.pods.service_accounts,
                 "that templates may name besides default; may be repeated")
      ->type_name("NAME");
}

Result<HttpServerOptions> listener(std::string_view flag, const std::string& address) {
  const std::size_t colon = address.rfind(':');
  HttpServerOptions http;
  if (colon == std::string::npos || colon == 0)
    return fail(Errc::kInvalid, "{} {}: expected HOST:PORT", flag, address);
  http.address = address.substr(0, colon);
  if (http.address.starts_with('[') && http.address.ends_with(']'))
    http.address = http.address.substr(1, http.address.size() - 2);
  const char* const end = address.data() + address.size();
  const auto [rest, error] = std::from_chars(address.data() + colon + 1, end, http.port);
  if (error != std::errc{} || rest != end)
    return fail(Errc::kInvalid, "{} {}: the port is a number from 0 to 65535", flag, address);
  return http;
}

// The host of a URL whose scheme is known.
std::string_view host_of(std::string_view url) {
  url.remove_prefix(url.find("://") + 3);
  url = url.substr(0, url.find('/'));
  if (const std::size_t user = url.rfind('@'); user != std::string_view::npos)
    url.remove_prefix(user + 1);
  if (url.starts_with('[')) return url.substr(0, url.find(']') + 1);
  return url.substr(0, url.find(':'));
}

// Reports carry the token of their pod.
Result<void> check_plain(const OperatorSettings& settings, const OperatorOptions& options) {
  if (settings.allow_plain_reports) return {};
  constexpr std::string_view kNext =
      "pass --report-cert and --report-key, and a URL with https, "
      "or --allow-plain-reports if the network is trusted";
  if (options.report_url.starts_with("http://") && !is_loopback_host(host_of(options.report_url)))
    return fail(Errc::kInvalid, "--report-url {}: pods would send their tokens unencrypted; {}",
                settings.report_url, kNext);
  // Also with a URL of https: what it names may be this very address.
  if (!options.report.tls && !is_loopback_host(options.report.address))
    return fail(Errc::kInvalid,
                "--report-address {}: takes tokens of pods unencrypted; {}, as behind a proxy that "
                "ends TLS",
                settings.report_address, kNext);
  return {};
}

Result<kube::ObjectKey> pod_key(const std::string& text) {
  if (text.empty()) return kube::ObjectKey{};
  const std::size_t slash = text.find('/');
  if (slash == 0 || slash == std::string::npos || slash + 1 == text.size())
    return fail(Errc::kInvalid, "--pod {}: expected NAMESPACE/NAME", text);
  return kube::ObjectKey{.ns = text.substr(0, slash), .name = text.substr(slash + 1)};
}

Result<void> add_metrics(const OperatorSettings& settings, OperatorOptions& options) {
  std::string_view address = options.status.probes.address;
  if (!settings.metrics_address.empty()) {
    TRY(options.status.metrics, listener("--metrics-address", settings.metrics_address));
    options.status.metrics->tls = options.report.tls;
    address = options.status.metrics->address;
  }
  options.guard_metrics = settings.guard_metrics && !is_loopback_host(address);
  return {};
}

}  // namespace

Reading read_settings(std::span<const char* const> words) {
  OperatorSettings settings;
  CLI::App app("Runs TrainingJobs: the operator of Amdahl.", "amdahl-operator");
  app.set_help_flag("-h,--help", "show this text");
  app.set_version_flag("--version", "amdahl-operator " AMDAHL_VERSION, "show the version");
  app.get_formatter()->column_width(34);
  app.footer(kFooter);
  add_cluster_flags(app, settings);
  add_address_flags(app, settings);
  add_pod_flags(app, settings);
  try {
    app.parse(static_cast<int>(words.size()), words.data());
  } catch (const CLI::CallForVersion&) {
    return {.help = "amdahl-operator " AMDAHL_VERSION "\n"};
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return {.help = app.help()};
    return {.error = std::string(error.what()) + "\nSee 'amdahl-operator --help'."};
  }
  return {.settings = std::move(settings)};
}

Result<OperatorOptions> operator_options(const OperatorSettings& settings, std::string ns,
                                         std::string identity) {
  OperatorOptions options{
      .ns = settings.ns, .report_url = settings.report_url, .pods = settings.pods};
  TRY(options.status.probes, listener("--probe-address", settings.probe_address));
  TRY(options.report, listener("--report-address", settings.report_address));
  if (!settings.report_certificate.empty())
    options.report.tls = HttpTlsOptions{.certificate_file = settings.report_certificate,
                                        .key_file = settings.report_key};
  while (options.report_url.ends_with('/')) options.report_url.pop_back();
  if (!options.report_url.empty() && !options.report_url.starts_with("http://") &&
      !options.report_url.starts_with("https://"))
    return fail(Errc::kInvalid, "--report-url {}: expected http:// or https://",
                settings.report_url);
  TRY(check_plain(settings, options));
  TRY(add_metrics(settings, options));
  TRY(options.pod, pod_key(settings.pod));
  if (!settings.elect) return options;
  if (!settings.lease_namespace.empty()) ns = settings.lease_namespace;
  options.election =
      controller::LeaderElectionOptions{.lease = {.ns = std::move(ns), .name = settings.lease_name},
                                        .identity = std::move(identity),
                                        .timings = kLeaseTimings};
  TRY(controller::validate(*options.election));
  return options;
}

}  // namespace amdahl

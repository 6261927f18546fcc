#include "operator/kube/config.hpp"

#include "operator/kube/in_cluster.hpp"
#include "operator/kube/kubeconfig.hpp"

namespace amdahl::kube {
namespace {

Result<Config> find_config(const ConfigOptions& options, const Environment& environment) {
  if (!options.kubeconfig.empty())
    return load_kubeconfig({options.kubeconfig}, options.context, environment);
  if (const auto list = environment.get("KUBECONFIG"))
    return load_kubeconfig(split_path_list(*list), options.context, environment);

  auto in_cluster = in_cluster_config(environment, options.service_account_dir);
  if (in_cluster || in_cluster.error().code != Errc::kNotFound) return in_cluster;

  const auto home = environment.get("HOME");
  const std::string home_file = home ? *home + "/.kube/config" : "~/.kube/config";
  if (home) {
    auto from_home = load_kubeconfig({home_file}, options.context, environment);
    if (from_home || from_home.error().code != Errc::kNotFound) return from_home;
  }
  return fail(Errc::kNotFound,
              "no cluster configuration: --kubeconfig and KUBECONFIG are not set; {}; {} does not "
              "exist. Give --kubeconfig PATH, or run where 'kubectl cluster-info' works",
              in_cluster.error().context, home_file);
}

}  // namespace

Result<Config> load_config(const ConfigOptions& options, const Environment& environment) {
  TRY(auto config, find_config(options, environment));
  if (!options.ns.empty()) config.ns = options.ns;
  config.exec_policy = options.exec_policy;
  return config;
}

}  // namespace amdahl::kube

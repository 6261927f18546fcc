// What the installation says about pods: where amdahl-launch comes from and where ranks report to.
#pragma once

#include <string>
#include <vector>

namespace amdahl::training {

struct PodOptions {
  // An image that holds amdahl-launch; an init container copies it into a volume of the pod. Empty:
  // launch_path is used as it is, as on the embedded cluster; both empty: the template's command
  // runs as it stands.
  std::string launch_image = {};
  std::string launch_path = {};
  std::string report_url = {};  // without a path; empty: nobody listens
  std::string report_ca = {};   // a ConfigMap with ca.crt in the job's namespace; empty: none
  bool shared_ports = false;    // pods have no address of their own: the embedded cluster
  std::vector<std::string> service_accounts = {};  // that templates may name, besides "default"
};

}  // namespace amdahl::training

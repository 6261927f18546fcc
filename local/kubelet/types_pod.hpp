// v1 Pod as the kubelet needs it: everything that says what to run, and the whole status.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "local/kubelet/types_env.hpp"
#include "local/kubelet/types_status.hpp"
#include "local/kubelet/types_volume.hpp"
#include "operator/kube/types_meta.hpp"
#include "operator/kube/types_pod.hpp"

namespace amdahl::local {

struct Container {
  std::string name = {};
  std::string image = {};
  std::vector<std::string> command = {};
  std::vector<std::string> args = {};
  std::string working_dir = {};
  std::vector<EnvFrom> env_from = {};
  std::vector<EnvVar> env = {};
  Resources resources = {};
  std::vector<VolumeMount> mounts = {};
  std::string termination_path = {};
  std::string termination_policy = {};
  std::string restart_policy = {};  // of an init container: "Always" makes it a sidecar
  bool operator==(const Container&) const = default;
};
template <class V>
constexpr void fields(V& v, Container& container) {
  v.required("name", container.name);
  v.optional("image", container.image);
  v.optional("command", container.command);
  v.optional("args", container.args);
  v.optional("workingDir", container.working_dir);
  v.optional("envFrom", container.env_from);
  v.optional("env", container.env);
  v.optional("resources", container.resources);
  v.optional("volumeMounts", container.mounts);
  v.defaulted("terminationMessagePath", container.termination_path, "/dev/termination-log");
  v.defaulted("terminationMessagePolicy", container.termination_policy, "File");
  v.optional("restartPolicy", container.restart_policy);
}

struct PodSpec {
  std::string node = {};
  std::vector<Container> init_containers = {};
  std::vector<Container> containers = {};
  std::vector<Volume> volumes = {};
  std::string restart_policy = {};
  std::int64_t grace_seconds = 30;
  std::optional<std::int64_t> active_seconds = {};
  std::string hostname = {};
  std::string subdomain = {};
  std::string service_account = {};
  std::optional<bool> mount_token = {};
  bool operator==(const PodSpec&) const = default;
};
template <class V>
constexpr void fields(V& v, PodSpec& spec) {
  v.optional("nodeName", spec.node);
  v.optional("initContainers", spec.init_containers);
  v.optional("containers", spec.containers);
  v.optional("volumes", spec.volumes);
  v.defaulted("restartPolicy", spec.restart_policy, "Always");
  v.defaulted("terminationGracePeriodSeconds", spec.grace_seconds, 30);
  v.optional("activeDeadlineSeconds", spec.active_seconds);
  v.optional("hostname", spec.hostname);
  v.optional("subdomain", spec.subdomain);
  v.defaulted("serviceAccountName", spec.service_account, "default");
  v.optional("automountServiceAccountToken", spec.mount_token);
}

struct Pod {
  kube::ObjectMeta metadata = {};
  PodSpec spec = {};
  PodStatus status = {};
  bool operator==(const Pod&) const = default;
  static const kube::Resource& resource() { return kube::kPods; }
};
template <class V>
constexpr void fields(V& v, Pod& pod) {
  v.required("metadata", pod.metadata);
  v.optional("spec", pod.spec);
  v.optional("status", pod.status);
}

// The name of the pod inside itself.
inline const std::string& hostname_of(const Pod& pod) {
  return pod.spec.hostname.empty() ? pod.metadata.name : pod.spec.hostname;
}

}  // namespace amdahl::local

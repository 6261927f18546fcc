#include "local/kubelet/hosts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace amdahl::local {
namespace {

std::string with_domains(std::string_view name, std::string_view ns) {
  return fmt::format("{0} {0}.{1} {0}.{1}.svc {0}.{1}.svc.cluster.local", name, ns);
}

bool selects(const PackedMap& selector, const PackedMap& labels) {
  return !selector.empty() && std::ranges::all_of(selector, [&](const auto& entry) {
    return labels.find(entry.first) == entry.second;
  });
}

}  // namespace

std::string hosts_text(std::string_view own, std::string_view ns, const std::vector<HostPod>& pods,
                       const std::vector<HostService>& services, HostsFor reader) {
  std::string text(own);
  if (!text.empty() && !text.ends_with('\n')) text += '\n';
  const auto add = [&](std::string_view address, std::string_view names) {
    fmt::format_to(std::back_inserter(text), "{} {}\n", address, names);
    if (reader == HostsFor::kNssWrapper)
      fmt::format_to(std::back_inserter(text), "::ffff:{} {}\n", address, names);
  };
  for (const HostPod& pod : pods) {
    if (pod.address.empty()) continue;
    std::string names = with_domains(pod.name, ns);
    if (!pod.subdomain.empty())
      names += " " + with_domains(fmt::format("{}.{}", pod.hostname, pod.subdomain), ns);
    add(pod.address, names);
  }
  for (const HostService& service : services)
    for (const HostPod& pod : pods)
      if (!pod.address.empty() && selects(service.selector, pod.labels))
        add(pod.address, with_domains(service.name, ns));
  return text;
}

}  // namespace amdahl::local

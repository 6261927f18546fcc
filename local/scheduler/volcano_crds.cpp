#include "local/scheduler/volcano_crds.hpp"

#include <iterator>

#include "base/check.hpp"
#include "operator/kube/yaml_bounded.hpp"

namespace amdahl::local {

namespace {

#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wc23-extensions"
// NOLINTNEXTLINE(modernize-avoid-c-arrays): std::array cannot be deduced from what is embedded
constexpr char kBytes[] = {
#embed "local/scheduler/volcano_crds.yaml"
};
#pragma clang diagnostic pop

constexpr std::string_view kSeparator = "\n---\n";

}  // namespace

std::string_view volcano_crds() {
  return {std::data(kBytes), std::size(kBytes)};
}

std::vector<nlohmann::json> volcano_crd_manifests() {
  std::vector<nlohmann::json> manifests;
  std::string_view rest = volcano_crds();
  while (!rest.empty()) {
    const std::size_t end = rest.find(kSeparator);
    const auto document = kube::parse_yaml(rest.substr(0, end), "volcano_crds.yaml");
    AMDAHL_CHECK(document.has_value());
    manifests.push_back(kube::to_json(*document));
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + kSeparator.size());
  }
  return manifests;
}

nlohmann::json default_queue_manifest() {
  return {{"apiVersion", "scheduling.volcano.sh/v1beta1"},
          {"kind", "Queue"},
          {"metadata", {{"name", "default"}}},
          {"spec", {{"weight", 1}, {"reclaimable", true}}}};
}

}  // namespace amdahl::local

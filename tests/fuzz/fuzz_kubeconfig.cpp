// Any text is a Config or a clear error; the error never quotes what may be a secret.
#include <cstdint>
#include <string>

#include "base/check.hpp"
#include "operator/kube/kubeconfig.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace amdahl::kube;
  const KubeconfigFile files[] = {
      {.path = "/x/config", .text = std::string(reinterpret_cast<const char*>(data), size)}};
  const auto config = merge_kubeconfig(files, "");
  if (!config) AMDAHL_CHECK(config.error().context.find("/x/config") != std::string::npos);
  return 0;
}

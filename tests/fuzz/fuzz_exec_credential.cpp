// Whatever a plugin prints is a credential or an error, and the error holds none of it.
#include <chrono>
#include <cstdint>
#include <string_view>

#include "base/check.hpp"
#include "operator/kube/exec_plugin.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace amdahl;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const WallTime now{std::chrono::seconds{1'700'000'000}};
  for (const char* version :
       {"client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"}) {
    const auto credential = kube::parse_exec_credential(text, version, now);
    if (credential) {
      AMDAHL_CHECK(!credential->token.empty() || !credential->certificate.empty());
      AMDAHL_CHECK(credential->certificate.empty() == credential->key.empty());
    } else {
      AMDAHL_CHECK(credential.error().context.find("s3cr3t") == std::string::npos);
    }
  }
  return 0;
}

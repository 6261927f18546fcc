// What a token says of itself: read before anybody has checked who sent it.
#include "base/check.hpp"
#include "operator/report/token_claims.hpp"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const std::string_view token(reinterpret_cast<const char*>(data), size);
  const auto claims = amdahl::report::unverified_claims(token);
  if (!claims) return 0;
  AMDAHL_CHECK(!claims->pod.ns.empty() && !claims->pod.pod.empty() && !claims->pod.pod_uid.empty());
  return 0;
}

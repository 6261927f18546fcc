// A certificate authority for tests: fresh keys in memory, nothing checked in, nothing to expire.
//
// Thread: any, one at a time. Failure: OpenSSL refusing a request of a test is a bug and stops it.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace amdahl {

struct CertificateOptions {
  std::string common_name = "localhost";
  std::vector<std::string> dns_names{"localhost"};
  std::vector<std::string> addresses{"127.0.0.1"};  // IPv4 or IPv6 subject alternative names
  std::string organization{};                       // Kubernetes reads groups from it
  std::chrono::seconds valid_from{-3600};           // relative to now
  std::chrono::seconds valid_until{86'400};
};

struct Certificate {
  std::string certificate_pem;
  std::string key_pem;
};

class CertificateAuthority {
 public:
  explicit CertificateAuthority(std::string common_name = "Amdahl test authority");
  ~CertificateAuthority();
  // A leaf for servers and clients alike, signed by this authority.
  Certificate issue(const CertificateOptions& options = {});
  const std::string& certificate_pem() const { return certificate_pem_; }

 private:
  struct Keys;
  std::unique_ptr<Keys> keys_;
  std::string certificate_pem_;
  std::int64_t next_serial_ = 2;
};

}  // namespace amdahl

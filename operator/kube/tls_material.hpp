// The PEM texts a TLS connection needs, followed while they change on disk (C2).
//
// Thread: one. Lifetime: outlives the transport and the credentials that use it; the clock outlives
// it. Failure: load() fails on a bad file; later a bad or empty file is logged, noted in
// last_error(), and the old text stays. Keys stay in memory: no temporary files, no text of theirs
// in an error.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/result.hpp"
#include "operator/kube/config.hpp"

namespace amdahl::kube {

inline constexpr std::chrono::minutes kTlsRecheck{5};
inline constexpr std::chrono::seconds kTlsRecheckAfterFailure{10};

struct TlsPem {
  std::string ca = {};           // empty: the system's roots
  std::string certificate = {};  // of the client, with its chain; empty: none
  std::string key = {};          // a secret
};

class TlsMaterial {
 public:
  static Result<std::unique_ptr<TlsMaterial>> load(const TlsConfig& config, FileReader read_file,
                                                   const Clock& clock, Log log = {});

  // Reads the files again when that is due. Cheap otherwise: call it before every connection.
  void refresh();
  // A pair from an exec plugin; from then on it is used instead of the configured one.
  Result<void> set_client(std::string certificate, std::string key);

  const TlsPem& pem() const { return pem_; }
  // Counts every change: make a new TLS context, close idle connections.
  std::uint64_t generation() const { return generation_; }
  // Counts changes of the client's certificate or key: close all connections.
  std::uint64_t client_generation() const { return client_generation_; }
  // Why the last re-check kept the old text; empty when it succeeded.
  const std::string& last_error() const { return last_error_; }

 private:
  TlsMaterial(const TlsConfig& config, FileReader read_file, const Clock& clock, Log log);
  Result<std::string> text_of(const PemSource& source, std::string_view what) const;
  Result<void> reread_ca();
  Result<void> reread_client();
  Result<void> reread();

  PemSource ca_;
  PemSource certificate_;
  PemSource key_;
  FileReader read_file_;
  const Clock& clock_;
  Log log_;
  TlsPem pem_;
  Monotonic next_check_{};
  std::uint64_t generation_ = 1;
  std::uint64_t client_generation_ = 1;
  std::string last_error_;
  bool client_from_plugin_ = false;
};

// At least one certificate, and every one parses.
Result<void> check_certificates(std::string_view pem);
// The key is not encrypted and belongs to the first certificate.
Result<void> check_key_pair(std::string_view certificate_pem, std::string_view key_pem);

}  // namespace amdahl::kube

// Who we are, as HTTP headers: Authorization and Impersonate-*.
//
// Thread: one. Lifetime: dies before the clock, the TLS material and the task group it was given,
// and after the last headers() call has returned. Failure: an error that names the source of the
// credential and never its text.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "base/task_group.hpp"
#include "operator/kube/config.hpp"
#include "operator/kube/request.hpp"
#include "operator/kube/tls_material.hpp"

namespace amdahl::kube {

inline constexpr std::chrono::seconds kTokenFilePeriod{60};
inline constexpr std::chrono::seconds kTokenLeeway{10};

class Credentials {
 public:
  virtual ~Credentials() = default;
  // Ask before every request, and before reading the TLS material: a plugin may change that too.
  virtual Task<Result<std::vector<Header>>> headers(Monotonic deadline) = 0;
  // The server answered 401 to a request that started then.
  virtual void rejected(Monotonic request_start) = 0;
};

// Where a bearer token comes from. An empty token: the certificate alone says who we are.
class TokenSource {
 public:
  virtual ~TokenSource() = default;
  virtual Task<Result<std::string>> token(Monotonic deadline) = 0;
  virtual void rejected(Monotonic request_start) = 0;
};

// What credentials work with. All of it outlives them; tasks must be stopped and joined after
// them, because a plugin may still be running.
struct CredentialsContext {
  Clock& clock;
  TaskGroup& tasks;
  TlsMaterial& tls;
  Log log = {};
};

Result<std::unique_ptr<Credentials>> make_credentials(const Config& config,
                                                      const Environment& environment,
                                                      CredentialsContext context);

// A file that somebody else replaces now and then, such as a projected service account token (C1).
// A read that fails keeps the token there is; it is an error only when there never was one.
class TokenFileSource final : public TokenSource {
 public:
  TokenFileSource(TokenFile file, FileReader read_file, const Clock& clock, Log log = {});
  Task<Result<std::string>> token(Monotonic deadline) override;
  void rejected(Monotonic request_start) override;

 private:
  Result<std::string> read() const;

  TokenFile file_;
  FileReader read_file_;
  const Clock& clock_;
  Log log_;
  std::string token_;
  Monotonic read_at_ = Monotonic::min();
  bool stale_ = true;
};

// White space around it is dropped; what cannot stand in a header is Errc::kInvalid.
Result<std::string> clean_token(std::string_view text);
// Impersonate-User, -Uid, -Group, -Extra-*.
Result<std::vector<Header>> impersonation_headers(const Impersonation& impersonation);

}  // namespace amdahl::kube

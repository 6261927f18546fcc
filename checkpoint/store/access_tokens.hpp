// Tokens for requests to Google Cloud Storage.
//
// Thread: any, many at once; one at a time asks for a new token. Lifetime: clock and client outlive
// it. Failure: kUnavailable or kUnauthorized with the place that was asked; no text holds a token.
#pragma once

#include <mutex>
#include <string>

#include "checkpoint/store/request_loop.hpp"

namespace amdahl::checkpoint {

class AccessTokens {
 public:
  virtual ~AccessTokens() = default;
  // Empty: requests go without. `renew`: the last one was refused.
  virtual Result<std::string> token(bool renew, const StoreCall& call) = 0;
};

// One that somebody else renews, or none at all.
class FixedToken final : public AccessTokens {
 public:
  explicit FixedToken(std::string token) : token_(std::move(token)) {}
  Result<std::string> token(bool /*renew*/, const StoreCall& /*call*/) override { return token_; }

 private:
  const std::string token_;
};

// Of the service account that this pod or machine runs as, from the metadata server beside it.
class MetadataTokens final : public AccessTokens {
 public:
  static constexpr std::chrono::seconds kEarly{300};  // a token is renewed so long before its end
  static constexpr std::string_view kHost = "metadata.google.internal";

  MetadataTokens(Clock& clock, RequestLoop& loop, Endpoint server)
      : clock_(clock), loop_(loop), server_(std::move(server)) {}
  Result<std::string> token(bool renew, const StoreCall& call) override;

 private:
  Result<void> fetch(const StoreCall& call);

  Clock& clock_;
  RequestLoop& loop_;
  const Endpoint server_;
  std::mutex mutex_;
  std::string token_;
  Monotonic good_until_ = {};
};

}  // namespace amdahl::checkpoint

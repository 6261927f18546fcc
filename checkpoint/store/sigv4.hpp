// AWS Signature Version 4 for S3: who sends a request, proven without sending the secret.
//
// Pure: the time is a parameter. Thread: any.
#pragma once

#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "checkpoint/store/http_values.hpp"

namespace amdahl::checkpoint {

struct AwsCredentials {
  std::string access_key = {};
  std::string secret_key = {};
  std::string session_token = {};  // of temporary credentials; empty: none
};

struct SigningScope {
  std::string host = {};  // as in the Host field
  std::string region = {};
  WallTime now = {};
};

// What stands for the payload's digest when TLS protects it.
inline constexpr std::string_view kUnsignedPayload = "UNSIGNED-PAYLOAD";

// Adds x-amz-date, x-amz-content-sha256, x-amz-security-token and authorization. All fields that
// the request has are signed, so they are complete before; their names are in lower case.
void sign_v4(StoreRequest& request, const AwsCredentials& credentials, const SigningScope& scope,
             std::string_view payload_sha256);

}  // namespace amdahl::checkpoint

// Keeps credentials out of logs and error texts.
//
// Pure. A last line of defence: code should not put a credential into a text in the first place.
// It errs towards hiding; a value that only looks like a credential is lost too.
#pragma once

#include <string>
#include <string_view>

namespace amdahl {

inline constexpr std::string_view kRedacted = "[redacted]";

// Whether what stands under this key is a credential: "authorization", "client-key-data",
// "accessToken"; but not "token_file", "secret_name" or "tokens_per_second".
bool is_secret_key(std::string_view key);

// The text without bearer and basic credentials, JWTs, private keys (PEM, also in base64),
// passwords in URLs, well-known token prefixes and values after secret keys ("password=...").
std::string redact(std::string_view text);

}  // namespace amdahl

#include "base/redact.hpp"

#include <catch2/catch.hpp>

namespace amdahl {
namespace {

constexpr std::string_view kJwt =
    "eyJhbGciOiJSUzI1NiIsImtpZCI6IngifQ.eyJzdWIiOiJzeXN0ZW0ifQ.c2lnbmF0dXJlLXNpZ25hdHVyZQ";

TEST_CASE("redact hides credentials and leaves the rest of the text alone") {
  const auto check = [](std::string_view text, std::string_view expected) {
    INFO(text);
    CHECK(redact(text) == expected);
  };
  const std::string jwt(kJwt);
  check("", "");
  check("pods research/llama-0: not found", "pods research/llama-0: not found");
  check("Authorization: Bearer abcdefgh.ijk", "Authorization: Bearer [redacted]");
  check("got 'bearer " + jwt + "'", "got 'bearer [redacted]'");
  check("BASIC dXNlcjpwYXNz end", "BASIC [redacted] end");
  check("bearer of news", "bearer of news");
  check("token " + jwt + ", expired", "token [redacted], expired");
  check(jwt, "[redacted]");
  check(jwt.substr(0, 50), "[redacted]");  // cut off by somebody
  check("a -----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY----- b", "a [redacted] b");
  check("-----BEGIN EC PRIVATE KEY-----\nMIIE", "[redacted]");
  check("-----BEGIN CERTIFICATE-----\nMIIE", "-----BEGIN CERTIFICATE-----\nMIIE");
  check("client-key-data: LS0tLS1CRUdJTiBQUklWQVRF", "client-key-data: [redacted]");
  check("x LS0tLS1CRUdJTiBQUklWQVRF y", "x [redacted] y");
  check("proxy http://user:pa55@proxy:3128/", "proxy http://[redacted]@proxy:3128/");
  check("https://host/path?a=b@c", "https://host/path?a=b@c");
  check("GET /x?access_token=abc&limit=5", "GET /x?access_token=[redacted]&limit=5");
  check("password=hunter2;user=x", "password=[redacted];user=x");
  check(R"({"token":"abc","limit":5})", R"({"token":"[redacted]","limit":5})");
  check(R"({"clientKeyData": "abc"})", R"({"clientKeyData": "[redacted]"})");
  check(R"(password: "unterminated)", R"(password: "[redacted])");
  check("parse token: expired", "parse token: expired");
  check("token: abcdefghijklmnopqrstuvwxyz", "token: [redacted]");
  check("use hf_abcdefghijklmnopqrst now", "use [redacted] now");
  check("sk-learn and task-0123456789abcdef0", "sk-learn and task-0123456789abcdef0");
  check("key ya29.a0AfH6SMBxxxxxxxx", "key [redacted]");
  check("token_file=/var/run/token", "token_file=/var/run/token");
  check("tokens_per_second=812", "tokens_per_second=812");
}

TEST_CASE("is_secret_key knows credentials from words about them") {
  for (const char* key : {"token", "bearer_token", "accessToken", "ACCESS-TOKEN", "password",
                          "Authorization", "client-key-data", "clientKeyData", "client_key",
                          "secret", "api_key", "apiKey", "private-key", "set-cookie"}) {
    INFO(key);
    CHECK(is_secret_key(key));
  }
  for (const char* key : {"", "tokens_per_second", "token_file", "tokenFile", "secret_name", "key",
                          "trainjob", "keyboard", "token_age_seconds", "secretary", "attempt"}) {
    INFO(key);
    CHECK_FALSE(is_secret_key(key));
  }
}

TEST_CASE("redact takes time proportional to the text") {
  // Each of these makes a naive scanner look at the rest of the text from every position.
  for (const std::string_view unit :
       {"-----BEGIN ", "://", "token", "eyJ", "eyJ=", "hf_.", "bearer ", "\"token\": \""}) {
    std::string text;
    while (text.size() < 200'000) text += unit;
    CHECK(redact(text).size() <= text.size() * 4);
  }
}

}  // namespace
}  // namespace amdahl

#include "checkpoint/store/sigv4.hpp"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <map>

#include "base/check.hpp"

namespace amdahl::checkpoint {
namespace {

constexpr std::string_view kAlgorithm = "AWS4-HMAC-SHA256";

std::string hmac(std::string_view key, std::string_view text) {
  std::string digest(32, '\0');
  unsigned length = 0;
  const auto* const done = HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
                                reinterpret_cast<const unsigned char*>(text.data()), text.size(),
                                reinterpret_cast<unsigned char*>(digest.data()), &length);
  AMDAHL_CHECK(done != nullptr && length == digest.size());
  return digest;
}

// "20130524T000000Z"
std::string compact_time(WallTime now) {
  const auto days = std::chrono::floor<std::chrono::days>(now);
  const std::chrono::year_month_day date(days);
  const std::chrono::hh_mm_ss time(std::chrono::floor<std::chrono::seconds>(now - days));
  return fmt::format("{:04}{:02}{:02}T{:02}{:02}{:02}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     time.hours().count(), time.minutes().count(), time.seconds().count());
}

// Pairs in the order of their bytes, each with an equals sign.
std::string canonical_query(std::string_view query) {
  std::vector<std::string> pairs;
  while (!query.empty()) {
    const std::size_t end = std::min(query.find('&'), query.size());
    pairs.emplace_back(query.substr(0, end));
    if (!pairs.back().contains('=')) pairs.back() += '=';
    query.remove_prefix(std::min(end + 1, query.size()));
  }
  std::ranges::sort(pairs);
  return fmt::format("{}", fmt::join(pairs, "&"));
}

struct Canonical {
  std::string text = {};
  std::string signed_names = {};
};

Canonical canonical_request(const StoreRequest& request, const std::string& host,
                            std::string_view payload_sha256) {
  const std::size_t mark = std::min(request.target.find('?'), request.target.size());
  const std::string_view target = request.target;
  Canonical canonical{
      .text = fmt::format("{}\n{}\n{}\n", request.method, target.substr(0, mark),
                          canonical_query(target.substr(std::min(mark + 1, target.size()))))};
  std::map<std::string_view, std::string_view> fields{{"host", host}};
  for (const HttpField& field : request.fields) fields[field.name] = field.value;
  for (const auto& [name, value] : fields) {
    canonical.text += fmt::format("{}:{}\n", name, value);
    if (!canonical.signed_names.empty()) canonical.signed_names += ';';
    canonical.signed_names += name;
  }
  canonical.text += fmt::format("\n{}\n{}", canonical.signed_names, payload_sha256);
  return canonical;
}

}  // namespace

void sign_v4(StoreRequest& request, const AwsCredentials& credentials, const SigningScope& scope,
             std::string_view payload_sha256) {
  const std::string time = compact_time(scope.now);
  const std::string_view day = std::string_view(time).substr(0, 8);
  request.fields.push_back({"x-amz-date", time});
  request.fields.push_back({"x-amz-content-sha256", std::string(payload_sha256)});
  if (!credentials.session_token.empty())
    request.fields.push_back({"x-amz-security-token", credentials.session_token});
  const Canonical canonical = canonical_request(request, scope.host, payload_sha256);
  const std::string where = fmt::format("{}/{}/s3/aws4_request", day, scope.region);
  const std::string to_sign =
      fmt::format("{}\n{}\n{}\n{}", kAlgorithm, time, where, hex(sha256(canonical.text)));
  const std::string key = hmac(
      hmac(hmac(hmac("AWS4" + credentials.secret_key, day), scope.region), "s3"), "aws4_request");
  request.fields.push_back(
      {"authorization", fmt::format("{} Credential={}/{},SignedHeaders={},Signature={}", kAlgorithm,
                                    credentials.access_key, where, canonical.signed_names,
                                    hex(bytes_of(hmac(key, to_sign))))});
}

}  // namespace amdahl::checkpoint

#include "checkpoint/store/access_tokens.hpp"

#include "checkpoint/store/gcs_protocol.hpp"

namespace amdahl::checkpoint {
namespace {

constexpr std::string_view kTokenTarget =
    "/computeMetadata/v1/instance/service-accounts/default/token";
constexpr std::string_view kFlavor = "Google";

}  // namespace

Result<std::string> MetadataTokens::token(bool renew, const StoreCall& call) {
  const std::scoped_lock lock(mutex_);
  if (renew || token_.empty() || clock_.monotonic() >= good_until_) {
    if (auto fetched = fetch(call); !fetched)
      return wrap(std::move(fetched).error(), "access token from {}", url_of(server_));
  }
  return token_;
}

Result<void> MetadataTokens::fetch(const StoreCall& call) {
  const auto make = [](bool /*renew*/) -> Result<StoreRequest> {
    return StoreRequest{.target = std::string(kTokenTarget),
                        .fields = {{"metadata-flavor", std::string(kFlavor)}}};
  };
  TRY(const Sent sent, loop_.send(server_, make, call));
  if (sent.answer.status != 200)
    return fail(sent.answer.status >= 500 ? Errc::kUnavailable : Errc::kUnauthorized,
                "HTTP {}; does this pod's service account have an identity at Google?",
                sent.answer.status);
  // Without it, whoever answers is some other server at that address.
  if (sent.answer.field("metadata-flavor") != kFlavor)
    return fail(Errc::kUnauthorized, "the answer is not that of a metadata server");
  TRY(AccessToken fresh, parse_access_token(sent.answer.body));
  token_ = std::move(fresh.token);
  // A token that is near its end is used until there is a fresher one.
  const std::chrono::seconds least{1};
  good_until_ = clock_.monotonic() + std::max(fresh.lifetime - kEarly, least);
  return {};
}

}  // namespace amdahl::checkpoint

#include "checkpoint/store/gcs_store.hpp"

#include "base/status_errc.hpp"
#include "checkpoint/store/direct_runs.hpp"
#include "checkpoint/store/page_walk.hpp"
#include "checkpoint/store/store_call.hpp"

namespace amdahl::checkpoint {
namespace {

constexpr int kSumAttemptsMax = 3;  // of reading a whole object whose sum does not fit

std::unique_ptr<AccessTokens> tokens_of(const GcsAccess& access, Clock& clock, RequestLoop& loop) {
  if (!access.from_metadata) return std::make_unique<FixedToken>(access.token);
  return std::make_unique<MetadataTokens>(clock, loop, access.metadata);
}

std::string_view next_step(int status) {
  switch (status) {
    case 401:
      return "; its token was refused: check the service account";
    case 403:
      return "; give the service account objects.create, get, list and delete on the bucket";
    case 404:
      return "; does the bucket exist?";
    default:
      return "";
  }
}

}  // namespace

GcsStore::GcsStore(GcsOptions options, const GcsAccess& access, Clock& clock, Rng rng)
    : options_(std::move(options)),
      clock_(clock),
      client_(clock, options_.http),
      loop_(clock, client_, options_.retry, rng),
      tokens_(tokens_of(access, clock, loop_)) {}

std::string GcsStore::describe() const {
  return "gs://" + options_.path.bucket + "/" + options_.path.folder;
}

std::unexpected<Error> GcsStore::error_of(const StoreAnswer& answer) const {
  return fail(errc_of_status(answer.status), "HTTP {}: {}{}", answer.status,
              gcs_error_text(answer.body), next_step(answer.status));
}

Result<StoreRequest> GcsStore::authorized(StoreRequest request, bool renew, const StoreCall& call) {
  TRY(const std::string token, tokens_->token(renew, call));
  if (!token.empty()) request.fields.push_back({"authorization", "Bearer " + token});
  return request;
}

Result<Sent> GcsStore::send(const StoreRequest& request, const StoreCall& call,
                            std::span<std::byte> into) {
  const auto make = [&](bool renew) { return authorized(request, renew, call); };
  return loop_.send(options_.endpoint, make, call, into);
}

Result<GcsObject> GcsStore::object(std::string_view name, const StoreCall& call) {
  TRY(const Sent sent, send(gcs_get(options_.path, name), call));
  if (sent.answer.status == 404) return fail(Errc::kNotFound, "not there");
  if (sent.answer.status != 200) return error_of(sent.answer);
  return parse_gcs_object(sent.answer.body);
}

Result<std::int64_t> GcsStore::size(std::string_view name, const StoreCall& call) {
  TRY(check_store_name(name));
  auto found = object(name, call);
  if (!found) return wrap(std::move(found).error(), "size of {}{}", describe(), name);
  return found->bytes;
}

Result<void> GcsStore::read(std::string_view name, std::int64_t begin, std::span<std::byte> into,
                            const StoreCall& call) {
  TRY(check_store_name(name));
  auto done = read_range(name, begin, into, call);
  if (!done) return wrap(std::move(done).error(), "read {}{}", describe(), name);
  return done;
}

Result<void> GcsStore::read_range(std::string_view name, std::int64_t begin,
                                  std::span<std::byte> into, const StoreCall& call) {
  if (into.empty()) {
    TRY(const GcsObject found, object(name, call));
    if (begin <= found.bytes) return {};
    return fail(Errc::kCorrupt, "it ends at byte {}, before byte {}", found.bytes, begin);
  }
  const std::int64_t end = begin + static_cast<std::int64_t>(into.size());
  for (int attempt = 1;; ++attempt) {
    TRY(const Sent sent, send(gcs_read(options_.path, name, begin, into.size()), call, into));
    const StoreAnswer& answer = sent.answer;
    if (answer.status == 404) return fail(Errc::kNotFound, "not there");
    if (answer.status == 416) return fail(Errc::kCorrupt, "it ends before byte {}", end);
    if (answer.status != 206 && answer.status != 200) return error_of(answer);
    TRY(const bool whole, is_whole_object(answer, begin, end));
    // The server's sum is that of the whole object.
    const std::string sum = whole ? parse_goog_hash(answer.field("x-goog-hash")) : std::string();
    const std::vector<Bytes> got{Bytes(into)};
    if (sum.empty() || sum == crc32c_text(crc32c_of(got))) return {};
    if (attempt == kSumAttemptsMax)
      return fail(Errc::kCorrupt, "{} times other bytes than its sum says", attempt);
  }
}

Result<ListPage> GcsStore::list(std::string_view prefix, std::string_view next,
                                const StoreCall& call) {
  const auto of_prefix = [&](Error error) {
    return wrap(std::move(error), "list {}{}", describe(), prefix);
  };
  auto sent = send(gcs_list(options_.path, prefix, next), call);
  if (!sent) return of_prefix(std::move(sent).error());
  if (sent->answer.status != 200) return of_prefix(error_of(sent->answer).error());
  auto page = parse_gcs_list(sent->answer.body, options_.path);
  if (!page) return of_prefix(std::move(page).error());
  if (auto asked = check_page(*page, prefix); !asked) return of_prefix(std::move(asked).error());
  return page;
}

Result<void> GcsStore::remove(std::string_view name, const StoreCall& call) {
  TRY(check_store_name(name));
  const auto of_name = [&](Error error) {
    return wrap(std::move(error), "remove {}{}", describe(), name);
  };
  auto found = object(name, call);
  if (!found && found.error().code == Errc::kNotFound) return {};
  if (!found) return of_name(std::move(found).error());
  auto sent = send(gcs_delete(options_.path, name, found->generation), call);
  if (!sent) return of_name(std::move(sent).error());
  const int status = sent->answer.status;
  if (status == 200 || status == 204 || status == 404) return {};
  if (status == 412)
    return of_name(Error{Errc::kConflict, "another object took its place meanwhile; it stays"});
  return of_name(error_of(sent->answer).error());
}

Result<std::int64_t> GcsStore::remove_leftovers(WallTime /*before*/, const StoreCall& call) {
  TRY(check_going(clock_, call));
  return 0;
}

}  // namespace amdahl::checkpoint

#include "checkpoint/store/s3_store.hpp"

#include "base/status_errc.hpp"
#include "checkpoint/store/page_walk.hpp"
#include "checkpoint/store/store_call.hpp"

namespace amdahl::checkpoint {
namespace {

constexpr int kSumAttemptsMax = 3;  // of reading a whole object whose sum does not fit

std::string_view next_step(int status) {
  switch (status) {
    case 301:
    case 307:
    case 400:
    case 401:
      return "; check region, endpoint and credentials (AWS_REGION, AWS_ENDPOINT_URL)";
    case 403:
      return "; give these credentials s3:PutObject, GetObject, DeleteObject, ListBucket, "
             "AbortMultipartUpload and ListBucketMultipartUploads on the bucket";
    case 404:
      return "; does the bucket exist?";
    case 501:
      return "; does this store know If-None-Match? Creating needs it";
    default:
      return "";
  }
}

}  // namespace

S3Store::S3Store(S3Options options, Clock& clock, Rng rng)
    : options_(std::move(options)),
      clock_(clock),
      client_(clock, options_.http),
      loop_(clock, client_, options_.retry, rng) {}

std::string S3Store::describe() const {
  return "s3://" + options_.place.path.bucket + "/" + options_.place.path.folder;
}

std::unexpected<Error> S3Store::error_of(const StoreAnswer& answer) const {
  const S3ErrorText text = parse_s3_error(answer.body);
  // A 200 may hold an error of the server.
  const Errc code = answer.status < 300 ? Errc::kUnavailable : errc_of_status(answer.status);
  return fail(code, "HTTP {} {}: {}{}", answer.status, text.code, text.message,
              next_step(answer.status));
}

Result<StoreRequest> S3Store::authorized(const StoreRequest& request, bool renew) const {
  TRY(const AwsCredentials credentials, options_.credentials(renew));
  StoreRequest complete = request;
  std::string digest(kUnsignedPayload);
  if (!options_.endpoint.tls) {
    Sha256 sum;
    for (const Bytes piece : request.body) sum.add(piece);
    digest = hex(sum.finish());
  }
  sign_v4(complete, credentials,
          {.host = host_field(options_.endpoint), .region = options_.region, .now = clock_.wall()},
          digest);
  return complete;
}

Result<Sent> S3Store::send(const StoreRequest& request, const StoreCall& call,
                           std::span<std::byte> into) {
  const auto make = [&](bool renew) { return authorized(request, renew); };
  return loop_.send(options_.endpoint, make, call, into);
}

Result<S3Store::Seen> S3Store::look(std::string_view name, const StoreCall& call) {
  TRY(const Sent sent, send(s3_head(options_.place, name), call));
  if (sent.answer.status == 404) return fail(Errc::kNotFound, "not there");
  if (sent.answer.status != 200) return error_of(sent.answer);
  const auto bytes = parse_count(sent.answer.field("content-length"));
  if (!bytes) return fail(Errc::kCorrupt, "the answer has no size");
  return Seen{.bytes = *bytes, .crc32c = std::string(sent.answer.field("x-amz-checksum-crc32c"))};
}

Result<std::int64_t> S3Store::size(std::string_view name, const StoreCall& call) {
  TRY(check_store_name(name));
  auto seen = look(name, call);
  if (!seen) return wrap(std::move(seen).error(), "size of {}{}", describe(), name);
  return seen->bytes;
}

Result<void> S3Store::read(std::string_view name, std::int64_t begin, std::span<std::byte> into,
                           const StoreCall& call) {
  TRY(check_store_name(name));
  auto done = read_range(name, begin, into, call);
  if (!done) return wrap(std::move(done).error(), "read {}{}", describe(), name);
  return done;
}

Result<void> S3Store::read_range(std::string_view name, std::int64_t begin,
                                 std::span<std::byte> into, const StoreCall& call) {
  if (into.empty()) {
    TRY(const Seen seen, look(name, call));
    if (begin <= seen.bytes) return {};
    return fail(Errc::kCorrupt, "it ends at byte {}, before byte {}", seen.bytes, begin);
  }
  const std::int64_t end = begin + static_cast<std::int64_t>(into.size());
  for (int attempt = 1;; ++attempt) {
    TRY(const Sent sent, send(s3_read(options_.place, name, begin, into.size()), call, into));
    const StoreAnswer& answer = sent.answer;
    if (answer.status == 404) return fail(Errc::kNotFound, "not there");
    if (answer.status == 416) return fail(Errc::kCorrupt, "it ends before byte {}", end);
    if (answer.status != 206 && answer.status != 200) return error_of(answer);
    TRY(const bool whole, is_whole_object(answer, begin, end));
    // Only of an object that is here as a whole and came in one part.
    const std::string_view sum = answer.field("x-amz-checksum-crc32c");
    const std::vector<Bytes> got{Bytes(into)};
    if (!whole || sum.empty() || sum.contains('-') || sum == crc32c_text(crc32c_of(got))) return {};
    if (attempt == kSumAttemptsMax)
      return fail(Errc::kCorrupt, "{} times other bytes than its sum says", attempt);
  }
}

Result<ListPage> S3Store::list(std::string_view prefix, std::string_view next,
                               const StoreCall& call) {
  const auto of_prefix = [&](Error error) {
    return wrap(std::move(error), "list {}{}", describe(), prefix);
  };
  auto sent = send(s3_list(options_.place, prefix, next), call);
  if (!sent) return of_prefix(std::move(sent).error());
  if (sent->answer.status != 200) return of_prefix(error_of(sent->answer).error());
  auto page = parse_s3_list(sent->answer.body, options_.place.path);
  if (!page) return of_prefix(std::move(page).error());
  if (auto asked = check_page(*page, prefix); !asked) return of_prefix(std::move(asked).error());
  return page;
}

Result<void> S3Store::remove(std::string_view name, const StoreCall& call) {
  TRY(check_store_name(name));
  auto sent = send(s3_delete(options_.place, name), call);
  if (!sent) return wrap(std::move(sent).error(), "remove {}{}", describe(), name);
  if (is_done(sent->answer)) return {};
  const bool absent = sent->answer.status == 404;
  if (absent && parse_s3_error(sent->answer.body).code != "NoSuchBucket") return {};
  return wrap(error_of(sent->answer).error(), "remove {}{}", describe(), name);
}

Result<std::int64_t> S3Store::remove_leftovers(WallTime before, const StoreCall& call) {
  std::int64_t removed = 0;
  if (options_.place.path.folder.empty()) return removed;
  S3UploadPage page;
  PageWalk walk;
  do {
    // An id has no line break, so this names one page.
    if (auto entered = walk.enter(page.next_key + "\n" + page.next_id); !entered)
      return wrap(std::move(entered).error(), "list uploads of {}", describe());
    TRY(const Sent sent, send(s3_list_uploads(options_.place, page), call));
    if (sent.answer.status != 200)
      return wrap(error_of(sent.answer).error(), "list uploads of {}", describe());
    TRY(page, parse_s3_uploads(sent.answer.body, options_.place.path));
    for (const S3Upload& upload : page.uploads) {
      if (upload.began >= before) continue;
      TRY(abort(upload, call));
      ++removed;
    }
  } while (!page.next_key.empty());
  return removed;
}

Result<void> S3Store::abort(const S3Upload& upload, const StoreCall& call) {
  TRY(const Sent sent, send(s3_abort(options_.place, upload), call));
  if (is_done(sent.answer) || sent.answer.status == 404) return {};
  return wrap(error_of(sent.answer).error(), "abort an upload of {}", upload.key);
}

}  // namespace amdahl::checkpoint

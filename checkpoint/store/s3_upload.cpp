// The part of S3Store that creates.
#include <atomic>
#include <thread>

#include "checkpoint/store/direct_runs.hpp"
#include "checkpoint/store/s3_store.hpp"
#include "checkpoint/store/store_call.hpp"

namespace amdahl::checkpoint {
namespace {

constexpr std::int64_t kCompareBytes = std::int64_t{8} << 20U;
constexpr std::chrono::seconds kAbortTime{5};

// A 200 may come before the server has failed, with an error in its body.
constexpr auto kIsPassingCreation = [](const StoreAnswer& answer) {
  return is_passing(answer.status) || is_hidden_error(answer);
};

// 409: somebody else is creating the object.
constexpr auto kIsPassingPut = [](const StoreAnswer& answer) {
  return kIsPassingCreation(answer) || answer.status == 409;
};

// Stops when one part has failed, or when the caller is stopped.
struct PartsRun {
  explicit PartsRun(const StoreCall& call)
      : on_caller(call.stop, [this] { stop.request_stop(); }),
        inner{.deadline = call.deadline, .stop = stop.get_token()} {}

  void fail_with(Error error) {
    const std::scoped_lock lock(mutex);
    if (!failure) failure = std::move(error);
    stop.request_stop();
  }

  std::stop_source stop;
  std::stop_callback<std::function<void()>> on_caller;
  StoreCall inner;
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  std::optional<Error> failure;
};

}  // namespace

Result<void> S3Store::create(std::string_view name, std::span<const Bytes> pieces,
                             const StoreCall& call) {
  TRY(check_store_name(name));
  Creation creation{.name = name, .pieces = pieces, .bytes = size_of(pieces)};
  auto done = creation.bytes <= options_.small_bytes_max ? put_small(creation, call)
                                                         : put_large(creation, call);
  if (!done) return wrap(std::move(done).error(), "create {}{}", describe(), name);
  return done;
}

Result<void> S3Store::put_small(Creation& creation, const StoreCall& call) {
  creation.crc32c = crc32c_text(crc32c_of(creation.pieces));
  const StoreRequest request =
      s3_put(options_.place, creation.name, creation.pieces, creation.crc32c);
  const auto make = [&](bool renew) { return authorized(request, renew); };
  TRY(const Sent sent, loop_.send(options_.endpoint, make, call, {}, kIsPassingPut));
  creation.unanswered = sent.unanswered_before;
  if (is_done(sent.answer)) return {};
  if (sent.answer.status == 412) return refused(creation, call);
  return error_of(sent.answer);
}

Result<void> S3Store::put_large(Creation& creation, const StoreCall& call) {
  std::vector<S3Part> parts = cut_into_parts(creation.bytes, options_.part_bytes);
  for (S3Part& part : parts)
    part.crc32c = crc32c_of(slice(creation.pieces, part.begin, part.bytes));
  creation.crc32c = composite_crc32c(parts);
  for (int i = 0; i < kUploadsMax; ++i) {
    TRY(const S3Upload upload, begin(creation, call));
    Result<bool> done = false;
    if (auto put = put_parts(creation, upload, parts, call); put)
      done = complete(creation, upload, s3_complete_text(parts), call);
    else
      done = std::unexpected<Error>(std::move(put).error());
    if (done && *done) return {};
    // Also when the call was stopped or is late; if this fails too, it is a leftover.
    (void)abort(upload, {.deadline = clock_.monotonic() + kAbortTime});
    if (!done) return std::unexpected<Error>(std::move(done).error());
    TRY(const bool again, loop_.pause(i + 1, std::nullopt, call));
    if (!again) break;
  }
  return fail(Errc::kConflict, "others are creating it too; try again");
}

Result<S3Upload> S3Store::begin(const Creation& creation, const StoreCall& call) {
  TRY(const Sent sent, send(s3_begin_upload(options_.place, creation.name), call));
  if (sent.answer.status != 200) return error_of(sent.answer);
  S3Upload upload{.key = options_.place.path.key(creation.name)};
  TRY(upload.id, parse_s3_upload_id(sent.answer.body));
  return upload;
}

Result<void> S3Store::put_parts(const Creation& creation, const S3Upload& upload,
                                std::vector<S3Part>& parts, const StoreCall& call) {
  PartsRun run(call);
  const auto work = [&] {
    for (std::size_t i = run.next++; i < parts.size(); i = run.next++) {
      if (run.stop.stop_requested()) return;
      auto put = put_part(creation, upload, parts[i], run.inner);
      if (!put) return run.fail_with(std::move(put).error());
    }
  };
  {
    std::vector<std::jthread> others;
    const std::size_t threads = std::min(parts.size(), kPartsInFlightMax);
    for (std::size_t i = 1; i < threads; ++i) others.emplace_back(work);
    work();
  }
  if (run.failure) return std::unexpected<Error>(*std::move(run.failure));
  return check_going(clock_, call);
}

Result<void> S3Store::put_part(const Creation& creation, const S3Upload& upload, S3Part& part,
                               const StoreCall& call) {
  TRY(const Sent sent, send(s3_put_part(options_.place, upload, part, creation.pieces), call));
  if (sent.answer.status != 200) return error_of(sent.answer);
  part.etag = sent.answer.field("etag");
  if (part.etag.empty()) return fail(Errc::kCorrupt, "part {} has no ETag", part.number);
  return {};
}

Result<bool> S3Store::complete(Creation& creation, const S3Upload& upload, const std::string& text,
                               const StoreCall& call) {
  const StoreRequest request = s3_complete(options_.place, upload, text);
  const auto make = [&](bool renew) { return authorized(request, renew); };
  TRY(const Sent sent, loop_.send(options_.endpoint, make, call, {}, kIsPassingCreation));
  creation.unanswered = creation.unanswered || sent.unanswered_before;
  if (is_done(sent.answer)) return true;
  const int status = sent.answer.status;
  if (status == 409) return false;
  // The upload is gone: a completion whose answer was lost has used it up.
  if (status == 412 || (status == 404 && creation.unanswered)) {
    TRY(refused(creation, call));
    return true;
  }
  return error_of(sent.answer);
}

Result<void> S3Store::refused(const Creation& creation, const StoreCall& call) {
  if (refusal_of(creation.unanswered) == CreateRefusal::kReadBack) return read_back(creation, call);
  return fail(Errc::kAlreadyExists, "it is there");
}

Result<void> S3Store::read_back(const Creation& creation, const StoreCall& call) {
  auto seen = look(creation.name, call);
  if (!seen && seen.error().code == Errc::kNotFound)
    return fail(Errc::kUnavailable, "no answer came, and it is not there; create it again");
  if (!seen) return wrap(std::move(seen).error(), "reading back after a lost answer");
  bool same = seen->bytes == creation.bytes;
  if (same && !seen->crc32c.empty()) {
    same = seen->crc32c == creation.crc32c;
  } else if (same) {
    TRY(same, has_content(creation, call));
  }
  if (same) return {};
  return fail(Errc::kAlreadyExists, "another object of that name is there");
}

// For stores that keep no sums.
Result<bool> S3Store::has_content(const Creation& creation, const StoreCall& call) {
  std::vector<std::byte> buffer;
  for (std::int64_t at = 0; at < creation.bytes; at += kCompareBytes) {
    buffer.resize(static_cast<std::size_t>(std::min(kCompareBytes, creation.bytes - at)));
    TRY(read_range(creation.name, at, buffer, call));
    if (!has_bytes_at(creation.pieces, at, buffer)) return false;
  }
  return true;
}

}  // namespace amdahl::checkpoint

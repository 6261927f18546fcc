// The part of GcsStore that creates.
#include "checkpoint/store/direct_runs.hpp"
#include "checkpoint/store/gcs_store.hpp"
#include "checkpoint/store/store_call.hpp"

namespace amdahl::checkpoint {

Result<void> GcsStore::create(std::string_view name, std::span<const Bytes> pieces,
                              const StoreCall& call) {
  TRY(check_store_name(name));
  const Upload upload{.name = name,
                      .pieces = pieces,
                      .bytes = size_of(pieces),
                      .crc32c = crc32c_text(crc32c_of(pieces))};
  auto done = upload.bytes <= options_.small_bytes_max ? upload_small(upload, call)
                                                       : upload_large(upload, call);
  if (!done) return wrap(std::move(done).error(), "create {}{}", describe(), name);
  return done;
}

Result<void> GcsStore::upload_small(const Upload& upload, const StoreCall& call) {
  const GcsMultipart texts =
      gcs_multipart(options_.path, upload.name, upload.crc32c, loop_.random());
  TRY(const Sent sent, send(gcs_upload_small(options_.path, texts, upload.pieces), call));
  return finish(upload, sent.answer, sent.unanswered_before, call);
}

// The last answer of an upload: the object, or why there is none.
Result<void> GcsStore::finish(const Upload& upload, const StoreAnswer& answer, bool unanswered,
                              const StoreCall& call) {
  if (answer.status == 200 || answer.status == 201) {
    const auto stored = parse_gcs_object(answer.body);
    // An answer that cannot be read is no answer.
    if (!stored || stored->crc32c != upload.crc32c || stored->bytes != upload.bytes)
      return read_back(upload, call);
    return {};
  }
  if (answer.status != 412) return error_of(answer);
  if (refusal_of(unanswered) == CreateRefusal::kReadBack) return read_back(upload, call);
  return fail(Errc::kAlreadyExists, "it is there");
}

Result<void> GcsStore::read_back(const Upload& upload, const StoreCall& call) {
  auto there = object(upload.name, call);
  if (!there && there.error().code == Errc::kNotFound)
    return fail(Errc::kUnavailable, "it was there and is not any more; create it again");
  if (!there) return wrap(std::move(there).error(), "reading back after a lost answer");
  if (there->bytes == upload.bytes && there->crc32c == upload.crc32c) return {};
  return fail(Errc::kAlreadyExists, "another object of that name is there");
}

Result<void> GcsStore::upload_large(const Upload& upload, const StoreCall& call) {
  bool unanswered = false;
  for (int i = 0; i < kUploadSessionsMax; ++i) {
    TRY(const std::string session, begin_session(upload, call, unanswered));
    if (session.empty()) return read_back(upload, call);
    auto done = send_content(upload, session, call, unanswered);
    if (done && *done) return {};
    if (done) continue;
    // What is sent so far is of no use to anybody; if this fails, it ends by itself in a week.
    (void)loop_.send_once(options_.endpoint, {.method = "DELETE", .target = session}, call);
    return std::unexpected<Error>(std::move(done).error());
  }
  return fail(Errc::kUnavailable, "{} upload sessions were lost by the server", kUploadSessionsMax);
}

// Empty: an object is there that may be ours.
Result<std::string> GcsStore::begin_session(const Upload& upload, const StoreCall& call,
                                            bool& unanswered) {
  const std::string metadata = gcs_metadata(options_.path, upload.name, upload.crc32c);
  TRY(const Sent sent, send(gcs_begin_upload(options_.path, metadata, upload.bytes), call));
  const StoreAnswer& answer = sent.answer;
  if (answer.status == 200 || answer.status == 201) return parse_session(answer.field("location"));
  if (answer.status != 412) return error_of(answer);
  // A lost answer to this request made no object; one to the content of an older session may have.
  if (refusal_of(unanswered) == CreateRefusal::kReadBack) return std::string();
  return fail(Errc::kAlreadyExists, "it is there");
}

Result<bool> GcsStore::send_content(const Upload& upload, const std::string& session,
                                    const StoreCall& call, bool& unanswered) {
  using Kind = UploadStep::Kind;
  std::int64_t stored = 0;
  bool ask = false;
  bool renew = false;
  for (int failures = 0;;) {
    TRY(const StoreRequest request,
        authorized(ask ? gcs_ask_upload(session, upload.bytes)
                       : gcs_upload_chunk(session, upload.pieces, stored, options_.chunk_bytes),
                   renew, call));
    auto answer = loop_.send_once(options_.endpoint, request, call);
    if (!answer && !is_passing(answer.error()))
      return std::unexpected<Error>(std::move(answer).error());
    const bool refused = answer && answer->status == 401 && !renew;
    UploadStep step{.kind = Kind::kAsk};
    if (answer && !refused) step = next_upload_step(*answer, upload.bytes);
    renew = refused;
    if (step.kind == Kind::kStartOver) return false;
    if (step.kind == Kind::kDone || step.kind == Kind::kRefused) {
      TRY(finish(upload, *answer, unanswered, call));
      return true;
    }
    if (step.kind == Kind::kFailed) return error_of(*answer);
    const bool progress = step.kind == Kind::kStored && step.stored > stored;
    if (step.kind == Kind::kStored) stored = step.stored;
    const bool asked = ask;
    // All is stored, but there is no object yet: ask again.
    ask = step.kind == Kind::kAsk || stored == upload.bytes;
    if (progress) failures = 0;
    if (!ask && (progress || asked)) continue;
    unanswered = unanswered || step.kind == Kind::kAsk;
    const auto wish = answer ? parse_retry_after(answer->field("retry-after")) : std::nullopt;
    TRY(const bool again, loop_.pause(++failures, wish, call));
    if (again) continue;
    if (answer) return error_of(*answer);
    return wrap(std::move(answer).error(), "{} failures in a row", failures);
  }
}

}  // namespace amdahl::checkpoint

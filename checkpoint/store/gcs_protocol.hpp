// The JSON API of Google Cloud Storage as far as a store needs it: requests to send, answers to
// read. Pure: no socket, no clock.
//
// Thread: any. Lifetime: bodies refer to the caller's pieces and texts. Failure: kCorrupt for an
// answer that is not what it should be.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "checkpoint/store/bucket_path.hpp"
#include "checkpoint/store/http_values.hpp"
#include "checkpoint/store/store.hpp"

namespace amdahl::checkpoint {

inline constexpr std::int64_t kGcsUploadUnit = std::int64_t{256} << 10U;  // chunks are multiples

// What is known of an object that is there.
struct GcsObject {
  std::int64_t bytes = 0;
  std::int64_t generation = 0;
  std::string crc32c = {};  // as crc32c_text(); empty when it was not told
  bool operator==(const GcsObject&) const = default;
};
Result<GcsObject> parse_gcs_object(std::string_view body);
// Objects outside of `path` are kCorrupt: they were not asked for.
Result<ListPage> parse_gcs_list(std::string_view body, const BucketPath& path);
// The part of an error's body that people read.
std::string gcs_error_text(std::string_view body);
// crc32c of an x-goog-hash field, "crc32c=n03x6A==,md5=..."; empty: none.
std::string parse_goog_hash(std::string_view field);

StoreRequest gcs_get(const BucketPath& path, std::string_view name);
StoreRequest gcs_read(const BucketPath& path, std::string_view name, std::int64_t begin,
                      std::size_t bytes);
StoreRequest gcs_list(const BucketPath& path, std::string_view prefix, std::string_view next);
StoreRequest gcs_delete(const BucketPath& path, std::string_view name, std::int64_t generation);

// The texts around the pieces of a multipart upload; the request refers to it.
struct GcsMultipart {
  std::string head = {};
  std::string tail = {};
  std::string boundary = {};
};
GcsMultipart gcs_multipart(const BucketPath& path, std::string_view name, std::string_view crc32c,
                           std::uint64_t random);
StoreRequest gcs_upload_small(const BucketPath& path, const GcsMultipart& texts,
                              std::span<const Bytes> pieces);

// `metadata` is gcs_metadata(), and outlives the request.
std::string gcs_metadata(const BucketPath& path, std::string_view name, std::string_view crc32c);
StoreRequest gcs_begin_upload(const BucketPath& path, const std::string& metadata,
                              std::int64_t bytes);
// Path and query of the session that a Location names; the server stays the one we know.
Result<std::string> parse_session(std::string_view location);
StoreRequest gcs_upload_chunk(const std::string& session, std::span<const Bytes> pieces,
                              std::int64_t begin, std::int64_t bytes_max);
StoreRequest gcs_ask_upload(const std::string& session, std::int64_t bytes);

// What an answer to a chunk or a question means for an upload.
struct UploadStep {
  enum class Kind : std::uint8_t {
    kStored,     // go on at `stored`
    kDone,       // the object is there
    kAsk,        // no answer: wait, then ask how much is stored
    kStartOver,  // the session is gone
    kRefused,    // 412: an object of that name is there
    kFailed,     // anything else
  };
  Kind kind = Kind::kFailed;
  std::int64_t stored = 0;
};
UploadStep next_upload_step(const StoreAnswer& answer, std::int64_t bytes);

struct AccessToken {
  std::string token = {};
  std::chrono::seconds lifetime = {};
};
Result<AccessToken> parse_access_token(std::string_view body);

}  // namespace amdahl::checkpoint

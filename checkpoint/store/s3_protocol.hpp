// The REST API of S3 as far as a store needs it: requests to send, answers to read. Pure: no
// socket, no clock, no signature.
//
// Thread: any. Lifetime: bodies refer to the caller's pieces and texts. Failure: kCorrupt for an
// answer that is not what it should be.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "checkpoint/store/bucket_path.hpp"
#include "checkpoint/store/http_values.hpp"
#include "checkpoint/store/store.hpp"

namespace amdahl::checkpoint {

inline constexpr std::int64_t kS3PartsMax = 10'000;  // of one upload
inline constexpr std::int64_t kS3PartBytesMin = std::int64_t{8} << 20U;

// A bucket is the first part of the path, or of the host.
enum class BucketStyle : std::uint8_t { kPath, kHost };

struct S3Place {
  BucketPath path = {};
  BucketStyle style = BucketStyle::kPath;
};

StoreRequest s3_head(const S3Place& place, std::string_view name);
StoreRequest s3_read(const S3Place& place, std::string_view name, std::int64_t begin,
                     std::size_t bytes);
StoreRequest s3_list(const S3Place& place, std::string_view prefix, std::string_view next);
StoreRequest s3_delete(const S3Place& place, std::string_view name);
StoreRequest s3_put(const S3Place& place, std::string_view name, std::span<const Bytes> pieces,
                    std::string_view crc32c);

// One part of an upload: its number, from 1, and what its bytes are.
struct S3Part {
  std::int64_t number = 0;
  std::int64_t begin = 0;
  std::int64_t bytes = 0;
  std::uint32_t crc32c = 0;
  std::string etag = {};
};
// Parts of at least `part_bytes`, and no more than kS3PartsMax.
std::vector<S3Part> cut_into_parts(std::int64_t bytes, std::int64_t part_bytes);
// What S3 shows as the sum of an object that came in parts: the sum of their sums, "-", how many.
std::string composite_crc32c(std::span<const S3Part> parts);

struct S3Upload {
  std::string key = {};
  std::string id = {};
  WallTime began = {};
};
StoreRequest s3_begin_upload(const S3Place& place, std::string_view name);
StoreRequest s3_put_part(const S3Place& place, const S3Upload& upload, const S3Part& part,
                         std::span<const Bytes> pieces);
std::string s3_complete_text(std::span<const S3Part> parts);
// `text` is s3_complete_text(), and outlives the request.
StoreRequest s3_complete(const S3Place& place, const S3Upload& upload, const std::string& text);
StoreRequest s3_abort(const S3Place& place, const S3Upload& upload);

// Uploads that are not completed, below a prefix; a page of them.
struct S3UploadPage {
  std::vector<S3Upload> uploads = {};
  std::string next_key = {};  // empty: that was the last page
  std::string next_id = {};
};
StoreRequest s3_list_uploads(const S3Place& place, const S3UploadPage& after);

Result<ListPage> parse_s3_list(std::string_view body, const BucketPath& path);
Result<std::string> parse_s3_upload_id(std::string_view body);
// Uploads below other prefixes are left out.
Result<S3UploadPage> parse_s3_uploads(std::string_view body, const BucketPath& path);
// Code and message of an error's body. A 200 may have one as well: then the code is not empty.
struct S3ErrorText {
  std::string code = {};
  std::string message = {};
};
S3ErrorText parse_s3_error(std::string_view body);
bool is_hidden_error(const StoreAnswer& answer);
// 200 or 204, and no error hidden in it.
bool is_done(const StoreAnswer& answer);

}  // namespace amdahl::checkpoint

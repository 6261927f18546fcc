#include "checkpoint/store/s3_protocol.hpp"

#include <algorithm>
#include <array>

#include "base/http_message.hpp"
#include "checkpoint/store/small_xml.hpp"
#include "kernels/crc32c.hpp"

namespace amdahl::checkpoint {
namespace {

constexpr std::size_t kUploadIdBytesMax = 4096;

// `query` begins with a question mark, or is empty.
std::string target_of(const S3Place& place, std::string_view key, std::string_view query) {
  const std::string bucket = place.style == BucketStyle::kPath ? "/" + place.path.bucket : "";
  return fmt::format("{}/{}{}", bucket, percent_encode(key, Slashes::kKeep), query);
}

std::string upload_target(const S3Place& place, const S3Upload& upload, std::string_view query) {
  return target_of(place, upload.key,
                   fmt::format("?{}uploadId={}", query, percent_encode(upload.id)));
}

// A document of this name; anything else was not asked for.
Result<XmlElement> parse_document(std::string_view body, std::string_view name) {
  TRY(XmlElement root, parse_xml(body));
  if (root.name != name)
    return fail(Errc::kCorrupt, "{} came where {} was asked for", excerpt(root.name), name);
  return root;
}

// Keys are encoded, because XML cannot hold every key.
Result<std::string> key_of(const XmlElement& root, std::string_view text) {
  if (root.text_of_child("EncodingType") != "url") return std::string(text);
  auto decoded = percent_decode(text, true);
  if (!decoded) return fail(Errc::kCorrupt, "a key that is not encoded as it says");
  return *std::move(decoded);
}

}  // namespace

StoreRequest s3_head(const S3Place& place, std::string_view name) {
  return {.method = "HEAD",
          .target = target_of(place, place.path.key(name), ""),
          .fields = {{"x-amz-checksum-mode", "ENABLED"}}};
}

StoreRequest s3_read(const S3Place& place, std::string_view name, std::int64_t begin,
                     std::size_t bytes) {
  const std::int64_t last = begin + static_cast<std::int64_t>(bytes) - 1;
  return {.target = target_of(place, place.path.key(name), ""),
          .fields = {{"range", fmt::format("bytes={}-{}", begin, last)},
                     {"x-amz-checksum-mode", "ENABLED"}}};
}

StoreRequest s3_list(const S3Place& place, std::string_view prefix, std::string_view next) {
  std::string query = "?";
  if (!next.empty()) query += fmt::format("continuation-token={}&", percent_encode(next));
  query += fmt::format("encoding-type=url&list-type=2&max-keys={}&prefix={}", kListPageMax,
                       percent_encode(place.path.key(prefix)));
  return {.target = target_of(place, "", query)};
}

StoreRequest s3_delete(const S3Place& place, std::string_view name) {
  return {.method = "DELETE", .target = target_of(place, place.path.key(name), "")};
}

StoreRequest s3_put(const S3Place& place, std::string_view name, std::span<const Bytes> pieces,
                    std::string_view crc32c) {
  return {.method = "PUT",
          .target = target_of(place, place.path.key(name), ""),
          .fields = {{"if-none-match", "*"}, {"x-amz-checksum-crc32c", std::string(crc32c)}},
          .body = {pieces.begin(), pieces.end()}};
}

std::vector<S3Part> cut_into_parts(std::int64_t bytes, std::int64_t part_bytes) {
  constexpr std::int64_t kUnit = std::int64_t{1} << 20U;
  const std::int64_t least = (bytes + kS3PartsMax - 1) / kS3PartsMax;
  if (least > part_bytes) part_bytes = (least + kUnit - 1) / kUnit * kUnit;
  std::vector<S3Part> parts;
  for (std::int64_t begin = 0; begin < bytes; begin += part_bytes)
    parts.push_back({.number = static_cast<std::int64_t>(parts.size()) + 1,
                     .begin = begin,
                     .bytes = std::min(part_bytes, bytes - begin)});
  return parts;
}

std::string composite_crc32c(std::span<const S3Part> parts) {
  std::uint32_t sum = 0;
  for (const S3Part& part : parts) {
    const std::array bytes = {
        static_cast<std::byte>(part.crc32c >> 24U), static_cast<std::byte>(part.crc32c >> 16U),
        static_cast<std::byte>(part.crc32c >> 8U), static_cast<std::byte>(part.crc32c)};
    sum = kernels::crc32c(bytes, sum);
  }
  return fmt::format("{}-{}", crc32c_text(sum), parts.size());
}

StoreRequest s3_begin_upload(const S3Place& place, std::string_view name) {
  return {.method = "POST",
          .target = target_of(place, place.path.key(name), "?uploads"),
          .fields = {{"x-amz-checksum-algorithm", "CRC32C"}}};
}

StoreRequest s3_put_part(const S3Place& place, const S3Upload& upload, const S3Part& part,
                         std::span<const Bytes> pieces) {
  return {.method = "PUT",
          .target = upload_target(place, upload, fmt::format("partNumber={}&", part.number)),
          .fields = {{"x-amz-checksum-crc32c", crc32c_text(part.crc32c)}},
          .body = slice(pieces, part.begin, part.bytes)};
}

std::string s3_complete_text(std::span<const S3Part> parts) {
  std::string text = "<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">";
  for (const S3Part& part : parts)
    text += fmt::format(
        "<Part><ChecksumCRC32C>{}</ChecksumCRC32C><ETag>{}</ETag><PartNumber>{}</PartNumber>"
        "</Part>",
        crc32c_text(part.crc32c), xml_escape(part.etag), part.number);
  return text + "</CompleteMultipartUpload>";
}

StoreRequest s3_complete(const S3Place& place, const S3Upload& upload, const std::string& text) {
  return {.method = "POST",
          .target = upload_target(place, upload, ""),
          .fields = {{"if-none-match", "*"}},
          .body = {bytes_of(text)}};
}

StoreRequest s3_abort(const S3Place& place, const S3Upload& upload) {
  return {.method = "DELETE", .target = upload_target(place, upload, "")};
}

StoreRequest s3_list_uploads(const S3Place& place, const S3UploadPage& after) {
  std::string query = "?encoding-type=url&";
  if (!after.next_key.empty())
    query += fmt::format("key-marker={}&", percent_encode(after.next_key));
  query +=
      fmt::format("max-uploads={}&prefix={}&", kListPageMax, percent_encode(place.path.folder));
  if (!after.next_id.empty())
    query += fmt::format("upload-id-marker={}&", percent_encode(after.next_id));
  return {.target = target_of(place, "", query + "uploads")};
}

Result<ListPage> parse_s3_list(std::string_view body, const BucketPath& path) {
  TRY(const XmlElement root, parse_document(body, "ListBucketResult"));
  ListPage page;
  for (const XmlElement& element : root.children) {
    if (element.name != "Contents") continue;
    TRY(const std::string key, key_of(root, element.text_of_child("Key")));
    if (key == path.folder && !key.empty()) continue;  // consoles make one for the folder itself
    auto name = path.name(key);
    const auto bytes = parse_count(element.text_of_child("Size"));
    if (!name || name->empty() || !bytes)
      return fail(Errc::kCorrupt, "an object that was not asked for");
    page.objects.push_back({.name = *std::move(name), .bytes = *bytes});
  }
  if (page.objects.size() > kListPageMax)
    return fail(Errc::kCorrupt, "not a page of at most {} objects", kListPageMax);
  const std::string_view truncated = root.text_of_child("IsTruncated");
  if (truncated == "false") return page;
  // What says neither may be anything, and is not taken for all there is.
  if (truncated != "true") return fail(Errc::kCorrupt, "a list that does not say whether it ends");
  page.next = root.text_of_child("NextContinuationToken");
  if (page.next.empty()) return fail(Errc::kCorrupt, "a page of a list without a way on");
  return page;
}

Result<std::string> parse_s3_upload_id(std::string_view body) {
  TRY(const XmlElement root, parse_document(body, "InitiateMultipartUploadResult"));
  std::string id(root.text_of_child("UploadId"));
  if (id.empty() || id.size() > kUploadIdBytesMax)
    return fail(Errc::kCorrupt, "the answer names no upload");
  return id;
}

Result<S3UploadPage> parse_s3_uploads(std::string_view body, const BucketPath& path) {
  TRY(const XmlElement root, parse_document(body, "ListMultipartUploadsResult"));
  S3UploadPage page;
  for (const XmlElement& element : root.children) {
    if (element.name != "Upload") continue;
    S3Upload upload{.id = std::string(element.text_of_child("UploadId"))};
    TRY(upload.key, key_of(root, element.text_of_child("Key")));
    TRY(upload.began, parse_time(element.text_of_child("Initiated")));
    if (path.name(upload.key)) page.uploads.push_back(std::move(upload));
  }
  if (root.text_of_child("IsTruncated") != "true") return page;
  TRY(page.next_key, key_of(root, root.text_of_child("NextKeyMarker")));
  page.next_id = root.text_of_child("NextUploadIdMarker");
  if (page.next_key.empty()) return fail(Errc::kCorrupt, "a page of a list without a way on");
  return page;
}

S3ErrorText parse_s3_error(std::string_view body) {
  const auto root = parse_xml(body);
  if (!root || root->name != "Error") return {.message = excerpt(body)};
  return {.code = excerpt(root->text_of_child("Code")),
          .message = excerpt(root->text_of_child("Message"))};
}

bool is_hidden_error(const StoreAnswer& answer) {
  return answer.status == 200 && !parse_s3_error(answer.body).code.empty();
}

bool is_done(const StoreAnswer& answer) {
  return (answer.status == 200 || answer.status == 204) && !is_hidden_error(answer);
}

}  // namespace amdahl::checkpoint

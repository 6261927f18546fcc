#include "checkpoint/store/test_fake_s3.hpp"

#include "base/http_message.hpp"
#include "checkpoint/store/bucket_path.hpp"
#include "checkpoint/store/s3_protocol.hpp"
#include "checkpoint/store/small_xml.hpp"

namespace amdahl::checkpoint {
namespace {

FakeReply error(int status, std::string_view code) {
  return {.status = status,
          .body = fmt::format("<?xml version=\"1.0\"?><Error><Code>{}</Code><Message>said the "
                              "fake</Message></Error>",
                              code)};
}

std::uint32_t crc_of(std::string_view content) {
  const std::vector<Bytes> pieces{bytes_of(content)};
  return crc32c_of(pieces);
}

// Time of "20130524T000000Z".
WallTime time_of(const std::string& text) {
  if (text.size() != 16) return {};
  return parse_time(fmt::format("{}-{}-{}T{}:{}:{}Z", text.substr(0, 4), text.substr(4, 2),
                                text.substr(6, 2), text.substr(9, 2), text.substr(11, 2),
                                text.substr(13, 2)))
      .value_or(WallTime{});
}

}  // namespace

std::map<std::string, std::string> FakeS3::objects() const {
  const std::scoped_lock lock(mutex_);
  std::map<std::string, std::string> all;
  for (const auto& [key, object] : objects_) all[key] = object.content;
  return all;
}

void FakeS3::put(const std::string& key, std::string content) {
  const std::scoped_lock lock(mutex_);
  const std::string sum = crc32c_text(crc_of(content));
  objects_[key] = {.content = std::move(content), .crc32c = sum};
}

std::size_t FakeS3::open_uploads() const {
  const std::scoped_lock lock(mutex_);
  return uploads_.size();
}

void FakeS3::begin_upload(const std::string& key) {
  const std::scoped_lock lock(mutex_);
  (void)on_begin(key);
}

// What the client says it signed is signed again, from what came over the wire.
bool FakeS3::is_signed(const FakeRequest& request) const {
  const std::string said = request.field("authorization");
  const std::string mark = "SignedHeaders=";
  const std::size_t at = said.find(mark);
  if (at == std::string::npos) return false;
  std::string names = said.substr(at + mark.size());
  names = ";" + names.substr(0, names.find(',')) + ";";
  const std::string digest = request.field("x-amz-content-sha256");
  if (digest != hex(sha256(request.body))) return false;
  StoreRequest again{.method = request.method, .target = request.target};
  for (const auto& [name, value] : request.fields) {
    const bool added = name == "host" || name == "x-amz-date" || name == "x-amz-content-sha256" ||
                       name == "x-amz-security-token";
    if (names.contains(";" + name + ";") && !added) again.fields.push_back({name, value});
  }
  sign_v4(again,
          {.access_key = std::string(kAccessKey),
           .secret_key = std::string(kSecretKey),
           .session_token = std::string(kSessionToken)},
          {.host = request.field("host"),
           .region = "eu-test-1",
           .now = time_of(request.field("x-amz-date"))},
          digest);
  return again.fields.back().value == said;
}

FakeReply FakeS3::handle(const FakeRequest& request) {
  const std::scoped_lock lock(mutex_);
  if (!is_signed(request)) return error(403, "SignatureDoesNotMatch");
  const std::string bucket = fmt::format("/{}/", kBucket);
  if (!request.path.starts_with(bucket)) return error(404, "NoSuchBucket");
  const std::string key = percent_decode(request.path.substr(bucket.size())).value();
  if (key.empty()) return on_bucket(request);
  if (request.method == "POST" && request.has("uploads")) return on_begin(key);
  if (request.method == "POST" && request.has("uploadId")) return on_complete(request, key);
  if (request.method == "PUT" && request.has("uploadId")) return on_part(request);
  if (request.method == "PUT") return on_put(request, key);
  if (request.method == "DELETE") return on_delete(request, key);
  if (request.method == "GET" || request.method == "HEAD") return on_read(request, key);
  return error(405, "MethodNotAllowed");
}

FakeReply FakeS3::on_bucket(const FakeRequest& request) {
  if (request.method != "GET") return error(405, "MethodNotAllowed");
  return request.has("uploads") ? on_list_uploads(request) : on_list(request);
}

FakeReply FakeS3::on_put(const FakeRequest& request, const std::string& key) {
  if (request.field("if-none-match") != "*") return error(400, "Unconditional");
  const std::string sum = crc32c_text(crc_of(request.body));
  if (request.field("x-amz-checksum-crc32c") != sum) return error(400, "BadDigest");
  if (objects_.contains(key)) return error(412, "PreconditionFailed");
  objects_[key] = {.content = request.body, .crc32c = sum};
  return {.fields = {{"etag", "\"whole\""}}};
}

FakeReply FakeS3::on_begin(const std::string& key) {
  const std::string id = fmt::format("upload/{}+", next_upload_++);
  uploads_[id] = {.key = key, .began = now_};
  return {.body = fmt::format("<InitiateMultipartUploadResult><UploadId>{}</UploadId>"
                              "</InitiateMultipartUploadResult>",
                              id)};
}

FakeReply FakeS3::on_part(const FakeRequest& request) {
  const auto upload = uploads_.find(request.parameter("uploadId"));
  if (upload == uploads_.end()) return error(404, "NoSuchUpload");
  if (request.field("x-amz-checksum-crc32c") != crc32c_text(crc_of(request.body)))
    return error(400, "BadDigest");
  const int number = std::stoi(request.parameter("partNumber"));
  upload->second.parts[number] = request.body;
  return {.fields = {{"etag", fmt::format("\"part-{}\"", number)}}};
}

FakeReply FakeS3::on_complete(const FakeRequest& request, const std::string& key) {
  const auto upload = uploads_.find(request.parameter("uploadId"));
  if (upload == uploads_.end()) return error(404, "NoSuchUpload");
  if (request.field("if-none-match") != "*") return error(400, "Unconditional");
  if (objects_.contains(key)) return error(412, "PreconditionFailed");
  const auto list = parse_xml(request.body);
  if (!list || list->name != "CompleteMultipartUpload") return error(400, "MalformedXML");
  std::string content;
  std::vector<S3Part> parts;
  for (const XmlElement& part : list->children) {
    const int number = std::stoi(std::string(part.text_of_child("PartNumber")));
    const auto stored = upload->second.parts.find(number);
    if (stored == upload->second.parts.end() ||
        part.text_of_child("ETag") != fmt::format("\"part-{}\"", number))
      return error(400, "InvalidPart");
    parts.push_back({.number = number, .crc32c = crc_of(stored->second)});
    if (part.text_of_child("ChecksumCRC32C") != crc32c_text(parts.back().crc32c))
      return error(400, "InvalidPart");
    content += stored->second;
  }
  objects_[key] = {.content = std::move(content), .crc32c = composite_crc32c(parts)};
  uploads_.erase(upload);
  return {.body =
              "\r\n<?xml version=\"1.0\"?>\n<CompleteMultipartUploadResult "
              "xmlns=\"http://s3\"><Location>x</Location></CompleteMultipartUploadResult>"};
}

FakeReply FakeS3::on_delete(const FakeRequest& request, const std::string& key) {
  if (!request.has("uploadId")) {
    objects_.erase(key);
    return {.status = 204};
  }
  if (uploads_.erase(request.parameter("uploadId")) == 0) return error(404, "NoSuchUpload");
  return {.status = 204};
}

FakeReply FakeS3::on_read(const FakeRequest& request, const std::string& key) {
  const auto found = objects_.find(key);
  if (found == objects_.end()) return error(404, "NoSuchKey");
  const std::string& content = found->second.content;
  FakeReply reply;
  if (sums && request.field("x-amz-checksum-mode") == "ENABLED")
    reply.fields.push_back({"x-amz-checksum-crc32c", found->second.crc32c});
  const std::string range = request.field("range");
  if (range.empty()) {
    reply.body = content;
    return reply;
  }
  const std::size_t dash = range.find('-');
  const std::size_t begin = std::stoull(range.substr(6, dash - 6));
  const std::size_t end =
      std::min<std::size_t>(std::stoull(range.substr(dash + 1)) + 1, content.size());
  if (begin >= content.size()) return error(416, "InvalidRange");
  reply.status = 206;
  reply.fields.push_back(
      {"content-range", fmt::format("bytes {}-{}/{}", begin, end - 1, content.size())});
  reply.body = content.substr(begin, end - begin);
  return reply;
}

FakeReply FakeS3::on_list(const FakeRequest& request) {
  const std::string prefix = request.parameter("prefix");
  std::map<std::string, std::size_t> all;
  for (const auto& [key, object] : objects_)
    if (key.starts_with(prefix)) all[key] = object.content.size();
  const FakeListPage page =
      fake_list(all, request.parameter("continuation-token"), page_max_, listing_);
  std::string items;
  for (const auto& entry : page.entries)
    items += fmt::format("<Contents><Key>{}</Key><Size>{}</Size></Contents>",
                         percent_encode(entry.key, Slashes::kKeep), entry.bytes);
  const std::string next =
      page.next.empty()
          ? ""
          : fmt::format("<NextContinuationToken>{}</NextContinuationToken>", xml_escape(page.next));
  objects_.erase(vanishing_);
  return {.body = fmt::format("<ListBucketResult><EncodingType>url</EncodingType>"
                              "<IsTruncated>{}</IsTruncated>{}{}</ListBucketResult>",
                              !page.next.empty(), next, items)};
}

FakeReply FakeS3::on_list_uploads(const FakeRequest& request) {
  const std::string prefix = request.parameter("prefix");
  std::map<std::string, std::size_t> all;  // by id
  for (const auto& [id, upload] : uploads_)
    if (upload.key.starts_with(prefix)) all[id] = 0;
  const FakeListPage page =
      fake_list(all, request.parameter("upload-id-marker"), page_max_, listing_);
  std::string items;
  for (const auto& entry : page.entries)
    items += fmt::format(
        "<Upload><Key>{}</Key><UploadId>{}</UploadId><Initiated>{}</Initiated></Upload>",
        percent_encode(uploads_[entry.key].key, Slashes::kKeep), entry.key,
        format_time(uploads_[entry.key].began));
  const std::string next = page.next.empty() ? ""
                                             : fmt::format(
                                                   "<NextKeyMarker>some/key</NextKeyMarker>"
                                                   "<NextUploadIdMarker>{}</NextUploadIdMarker>",
                                                   page.next);
  return {.body = fmt::format("<ListMultipartUploadsResult><EncodingType>url</EncodingType>"
                              "<IsTruncated>{}</IsTruncated>{}{}</ListMultipartUploadsResult>",
                              !page.next.empty(), next, items)};
}

}  // namespace amdahl::checkpoint

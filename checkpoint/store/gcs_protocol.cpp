#include "checkpoint/store/gcs_protocol.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json_dump.hpp"
#include "checkpoint/format/strict_json.hpp"
#include "checkpoint/store/direct_runs.hpp"
#include "checkpoint/store/retry.hpp"

namespace amdahl::checkpoint {
namespace {

constexpr int kAnswerDepthMax = 8;
constexpr std::size_t kSessionBytesMax = 8192;
constexpr std::size_t kTokenBytesMax = std::size_t{16} << 10U;
constexpr std::string_view kContentType = "application/octet-stream";

Result<Json> parse_object(std::string_view body) {
  TRY(Json tree, parse_strict(body, kAnswerDepthMax));
  if (!tree.is_object()) return fail(Errc::kCorrupt, "not an object of JSON");
  return tree;
}

std::string text_at(const Json& tree, const char* key) {
  const auto found = tree.find(key);
  return found != tree.end() && found->is_string() ? found->get<std::string>() : std::string();
}

Result<std::int64_t> count_at(const Json& tree, const char* key) {
  const auto count = parse_count(text_at(tree, key));
  if (!count) return fail(Errc::kCorrupt, "the answer has no {}", key);
  return *count;
}

std::string object_target(const BucketPath& path, std::string_view name, std::string_view query) {
  return fmt::format("/storage/v1/b/{}/o/{}?{}", path.bucket, percent_encode(path.key(name)),
                     query);
}

std::string upload_target(const BucketPath& path, std::string_view type) {
  return fmt::format("/upload/storage/v1/b/{}/o?uploadType={}&ifGenerationMatch=0", path.bucket,
                     type);
}

}  // namespace

Result<GcsObject> parse_gcs_object(std::string_view body) {
  TRY(const Json tree, parse_object(body));
  GcsObject object{.crc32c = text_at(tree, "crc32c")};
  TRY(object.bytes, count_at(tree, "size"));
  TRY(object.generation, count_at(tree, "generation"));
  return object;
}

Result<ListPage> parse_gcs_list(std::string_view body, const BucketPath& path) {
  TRY(const Json tree, parse_object(body));
  ListPage page{.next = text_at(tree, "nextPageToken")};
  const auto items = tree.find("items");
  if (items == tree.end()) return page;
  if (!items->is_array() || items->size() > kListPageMax)
    return fail(Errc::kCorrupt, "not a page of at most {} objects", kListPageMax);
  for (const Json& item : *items) {
    if (!item.is_object()) return fail(Errc::kCorrupt, "not a list of objects");
    auto name = path.name(text_at(item, "name"));
    if (!name || name->empty()) {
      // The object that stands for the folder itself, as consoles make it.
      if (name && text_at(item, "name") == path.folder) continue;
      return fail(Errc::kCorrupt, "an object that was not asked for");
    }
    StoredObject object{.name = *std::move(name)};
    TRY(object.bytes, count_at(item, "size"));
    page.objects.push_back(std::move(object));
  }
  return page;
}

std::string gcs_error_text(std::string_view body) {
  const auto tree = parse_object(body);
  if (!tree) return excerpt(body);
  const auto error = tree->find("error");
  if (error == tree->end()) return excerpt(body);
  if (error->is_string()) return excerpt(error->get<std::string>());
  const std::string message = error->is_object() ? text_at(*error, "message") : std::string();
  return excerpt(message.empty() ? body : message);
}

std::string parse_goog_hash(std::string_view field) {
  constexpr std::string_view kName = "crc32c=";
  while (!field.empty()) {
    const std::size_t end = std::min(field.find(','), field.size());
    std::string_view one = field.substr(0, end);
    field.remove_prefix(std::min(end + 1, field.size()));
    while (one.starts_with(' ')) one.remove_prefix(1);
    if (one.starts_with(kName)) return std::string(one.substr(kName.size()));
  }
  return {};
}

StoreRequest gcs_get(const BucketPath& path, std::string_view name) {
  return {.target = object_target(path, name, "fields=size,generation,crc32c")};
}

StoreRequest gcs_read(const BucketPath& path, std::string_view name, std::int64_t begin,
                      std::size_t bytes) {
  const std::int64_t last = begin + static_cast<std::int64_t>(bytes) - 1;
  return {.target = object_target(path, name, "alt=media"),
          .fields = {{"range", fmt::format("bytes={}-{}", begin, last)}}};
}

StoreRequest gcs_list(const BucketPath& path, std::string_view prefix, std::string_view next) {
  std::string target = fmt::format(
      "/storage/v1/b/{}/o?fields=items(name,size),nextPageToken&maxResults={}&prefix={}",
      path.bucket, kListPageMax, percent_encode(path.key(prefix)));
  if (!next.empty()) target += "&pageToken=" + percent_encode(next);
  return {.target = std::move(target)};
}

StoreRequest gcs_delete(const BucketPath& path, std::string_view name, std::int64_t generation) {
  return {.method = "DELETE",
          .target = object_target(path, name, fmt::format("ifGenerationMatch={}", generation))};
}

std::string gcs_metadata(const BucketPath& path, std::string_view name, std::string_view crc32c) {
  return dump_json(
      Json{{"name", path.key(name)}, {"crc32c", crc32c}, {"contentType", kContentType}});
}

GcsMultipart gcs_multipart(const BucketPath& path, std::string_view name, std::string_view crc32c,
                           std::uint64_t random) {
  GcsMultipart texts{.boundary = fmt::format("amdahl-{:016x}", random)};
  texts.head = fmt::format(
      "--{0}\r\ncontent-type: application/json; charset=UTF-8\r\n\r\n{1}\r\n"
      "--{0}\r\ncontent-type: {2}\r\n\r\n",
      texts.boundary, gcs_metadata(path, name, crc32c), kContentType);
  texts.tail = fmt::format("\r\n--{}--\r\n", texts.boundary);
  return texts;
}

StoreRequest gcs_upload_small(const BucketPath& path, const GcsMultipart& texts,
                              std::span<const Bytes> pieces) {
  StoreRequest request{
      .method = "POST",
      .target = upload_target(path, "multipart"),
      .fields = {{"content-type", "multipart/related; boundary=" + texts.boundary}}};
  request.body.push_back(bytes_of(texts.head));
  request.body.insert(request.body.end(), pieces.begin(), pieces.end());
  request.body.push_back(bytes_of(texts.tail));
  return request;
}

StoreRequest gcs_begin_upload(const BucketPath& path, const std::string& metadata,
                              std::int64_t bytes) {
  return {.method = "POST",
          .target = upload_target(path, "resumable"),
          .fields = {{"content-type", "application/json; charset=UTF-8"},
                     {"x-upload-content-type", std::string(kContentType)},
                     {"x-upload-content-length", fmt::format("{}", bytes)}},
          .body = {bytes_of(metadata)}};
}

Result<std::string> parse_session(std::string_view location) {
  const std::size_t scheme = location.find("://");
  const std::size_t slash =
      scheme == location.npos ? location.find('/') : location.find('/', scheme + 3);
  if (slash == location.npos || location.size() > kSessionBytesMax ||
      std::ranges::any_of(location, [](char c) { return c <= ' ' || c > '~'; }))
    return fail(Errc::kCorrupt, "the answer names no session to upload to");
  return std::string(location.substr(slash));
}

StoreRequest gcs_upload_chunk(const std::string& session, std::span<const Bytes> pieces,
                              std::int64_t begin, std::int64_t bytes_max) {
  const std::int64_t bytes = size_of(pieces);
  const std::int64_t end = std::min(bytes, begin + bytes_max);
  return {.method = "PUT",
          .target = session,
          .fields = {{"content-range", fmt::format("bytes {}-{}/{}", begin, end - 1, bytes)}},
          .body = slice(pieces, begin, end - begin)};
}

StoreRequest gcs_ask_upload(const std::string& session, std::int64_t bytes) {
  return {.method = "PUT",
          .target = session,
          .fields = {{"content-range", fmt::format("bytes */{}", bytes)}}};
}

UploadStep next_upload_step(const StoreAnswer& answer, std::int64_t bytes) {
  using Kind = UploadStep::Kind;
  constexpr std::string_view kFromTheFirst = "bytes=0-";
  if (answer.status == 200 || answer.status == 201) return {.kind = Kind::kDone};
  if (answer.status == 412) return {.kind = Kind::kRefused};
  if (answer.status == 404 || answer.status == 410) return {.kind = Kind::kStartOver};
  if (is_passing(answer.status)) return {.kind = Kind::kAsk};
  if (answer.status != 308) return {.kind = Kind::kFailed};
  std::string_view range = answer.field("range");
  if (range.empty()) return {.kind = Kind::kStored, .stored = 0};
  if (!range.starts_with(kFromTheFirst)) return {.kind = Kind::kFailed};
  const auto last = parse_count(range.substr(kFromTheFirst.size()));
  if (!last || *last >= bytes) return {.kind = Kind::kFailed};
  return {.kind = Kind::kStored, .stored = *last + 1};
}

Result<AccessToken> parse_access_token(std::string_view body) {
  // Nothing of the body may get into an error.
  const auto parsed = parse_object(body);
  const Json tree = parsed ? *parsed : Json::object();
  AccessToken token{.token = text_at(tree, "access_token")};
  const auto lifetime = tree.find("expires_in");
  const bool printable =
      std::ranges::all_of(token.token, [](char c) { return c > ' ' && c <= '~'; });
  if (token.token.empty() || token.token.size() > kTokenBytesMax || !printable ||
      lifetime == tree.end() || !lifetime->is_number_integer())
    return fail(Errc::kCorrupt, "not an access token");
  constexpr std::int64_t kDay = 86'400;
  token.lifetime = std::chrono::seconds(std::clamp<std::int64_t>(*lifetime, 0, kDay));
  return token;
}

}  // namespace amdahl::checkpoint

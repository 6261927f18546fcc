// Answers of object stores. Whatever a server sends, a parser ends, stays within its bounds, and
// gives only what was asked for. The first byte chooses the parser.
#include <algorithm>
#include <cstdint>
#include <string_view>

#include "base/check.hpp"
#include "checkpoint/store/gcs_protocol.hpp"
#include "checkpoint/store/page_walk.hpp"
#include "checkpoint/store/s3_protocol.hpp"
#include "checkpoint/store/small_xml.hpp"

namespace {

using namespace amdahl::checkpoint;

void check_page(const amdahl::Result<ListPage>& page) {
  if (!page) return;
  AMDAHL_CHECK(page->objects.size() <= kListPageMax);
  for (const StoredObject& object : page->objects)
    AMDAHL_CHECK(!object.name.empty() && object.bytes >= 0);
  std::vector<StoredObject> sorted = page->objects;
  if (!sort_listed(sorted)) return;
  const auto after = [](const auto& a, const auto& b) { return a.name >= b.name; };
  AMDAHL_CHECK(std::ranges::adjacent_find(sorted, after) == sorted.end());
}

// Text that is written and read again is the same.
void check_xml(std::string_view text) {
  const auto root = parse_xml(text);
  if (!root) return;
  const auto again = parse_xml("<A>" + xml_escape(root->text) + "</A>");
  AMDAHL_CHECK(again && again->text == root->text);
}

void check_fields(std::string_view text) {
  if (const auto range = parse_content_range(text))
    AMDAHL_CHECK(range->begin >= 0 && range->begin < range->end && range->end <= range->bytes);
  constexpr std::int64_t kBytes = 1000;
  const UploadStep step =
      next_upload_step({.status = 308, .fields = {{"range", std::string(text)}}}, kBytes);
  AMDAHL_CHECK(step.stored >= 0 && step.stored <= kBytes);
  if (const auto session = parse_session(text)) AMDAHL_CHECK(session->starts_with('/'));
  if (const auto endpoint = parse_endpoint(text))
    AMDAHL_CHECK(parse_endpoint(url_of(*endpoint)).value() == *endpoint);
  (void)parse_goog_hash(text);
  (void)parse_retry_after(text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const BucketPath path{.bucket = "bucket", .folder = "a/"};
  switch (data[0]) {
    case 'x':
      check_xml(text);
      break;
    case 'l':
      check_page(parse_s3_list(text, path));
      break;
    case 'u':
      if (const auto page = parse_s3_uploads(text, path))
        for (const S3Upload& upload : page->uploads) AMDAHL_CHECK(upload.key.starts_with("a/"));
      break;
    case 'e':
      (void)parse_s3_error(text);
      (void)parse_s3_upload_id(text);
      (void)gcs_error_text(text);
      break;
    case 'g':
      check_page(parse_gcs_list(text, path));
      break;
    case 'o':
      if (const auto object = parse_gcs_object(text)) AMDAHL_CHECK(object->bytes >= 0);
      break;
    case 't':
      if (const auto token = parse_access_token(text)) AMDAHL_CHECK(!token->token.empty());
      break;
    default:
      check_fields(text);
  }
  return 0;
}

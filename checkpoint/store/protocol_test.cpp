// What is pure: endpoints, heads, ranges, retries, the protocol of GCS.
#include <catch2/catch.hpp>

#include "base/status_errc.hpp"
#include "checkpoint/store/direct_runs.hpp"
#include "checkpoint/store/gcs_protocol.hpp"
#include "checkpoint/store/retry.hpp"

namespace amdahl::checkpoint {
namespace {

using namespace std::chrono_literals;
const BucketPath kPath{.bucket = "bucket", .folder = "a b/c/"};

TEST_CASE("parse_endpoint", "[checkpoint_store]") {
  const auto parsed = [](std::string_view url) {
    const auto endpoint = parse_endpoint(url);
    return endpoint ? url_of(*endpoint) : std::string("bad");
  };
  CHECK(parsed("https://storage.googleapis.com") == "https://storage.googleapis.com");
  CHECK(parsed("http://localhost:4443/") == "http://localhost:4443");
  CHECK(parsed("localhost:4443") == "http://localhost:4443");
  CHECK(parsed("https://[::1]:9000") == "https://[::1]:9000");
  CHECK(parsed("https://host:443") == "https://host");
  for (const std::string_view bad :
       {"", "https://", "ftp://host", "http://host:0", "http://host:65536", "http://host:x",
        "http://user@host", "http://host/path", "http://[::1", "http://ho st", "://", "http://a:"})
    CHECK(parsed(bad) == "bad");
}

TEST_CASE("parse_bucket_path", "[checkpoint_store]") {
  CHECK(parse_bucket_path("bucket")->folder.empty());
  CHECK(parse_bucket_path("bucket/")->folder.empty());
  CHECK(parse_bucket_path("bucket/a/b/")->folder == "a/b/");
  for (const std::string_view bad : {"", "/a", "Bucket/a", "bucket//a", "bucket/../a", "b"})
    CHECK_FALSE(parse_bucket_path(bad));
}

TEST_CASE("render_head lets no field end itself", "[checkpoint_store]") {
  const Endpoint endpoint{.host = "host"};
  CHECK(render_head(endpoint, {.fields = {{"range", "bytes=0-1"}}}).value() ==
        "GET / HTTP/1.1\r\nhost: host\r\nuser-agent: amdahl\r\nrange: bytes=0-1\r\n\r\n");
  CHECK_FALSE(render_head(endpoint, {.fields = {{"a", "b\r\nc: d"}}}));
  CHECK_FALSE(render_head(endpoint, {.fields = {{"a\n", "b"}}}));
  CHECK_FALSE(render_head(endpoint, {.target = "/a b"}));
  CHECK_FALSE(render_head(endpoint, {.target = "/a\r\n"}));
}

TEST_CASE("parse_content_range, parse_count, parse_retry_after", "[checkpoint_store]") {
  CHECK(parse_content_range("bytes 2-5/10") == ContentRange{.begin = 2, .end = 6, .bytes = 10});
  for (const std::string_view bad : {"", "bytes 5-2/10", "bytes 0-10/10", "bytes */10", "0-1/2",
                                     "bytes 0-1/*", "bytes 00-1/2", "bytes -1/2"})
    CHECK_FALSE(parse_content_range(bad));
  CHECK(parse_count("0") == 0);
  CHECK_FALSE(parse_count("01"));
  CHECK_FALSE(parse_count("9223372036854775808"));
  CHECK(parse_retry_after("7") == 7s);
  CHECK(parse_retry_after("999999") == 300s);
  CHECK_FALSE(parse_retry_after("Wed, 21 Oct 2015 07:28:00 GMT"));
}

TEST_CASE("delay_before_next: bounded, jittered, and a server's wish is a least time",
          "[checkpoint_store]") {
  const RetryOptions options{.attempts_max = 6, .first_delay = 100ms, .delay_max = 1000ms};
  Rng rng(1);
  for (int failures = 1; failures < 6; ++failures) {
    const auto bound = std::min(100ms * (1 << (failures - 1)), 1000ms);
    std::chrono::nanoseconds longest{};
    for (int i = 0; i < 1000; ++i) {
      const auto delay = delay_before_next(options, {failures, std::nullopt, 1h}, rng);
      REQUIRE(delay);
      REQUIRE(*delay <= bound);
      longest = std::max(longest, *delay);
    }
    CHECK(longest > bound / 2);
  }
  CHECK_FALSE(delay_before_next(options, {6, std::nullopt, 1h}, rng));
  CHECK(delay_before_next(options, {1, 5s, 1h}, rng).value() >= 5s);
  CHECK_FALSE(delay_before_next(options, {1, 5s, 4s}, rng));
  CHECK_FALSE(delay_before_next(options, {1, std::nullopt, -1s}, rng));
  for (const int status : {408, 429, 500, 502, 503, 504}) CHECK(is_passing(status));
  for (const int status : {200, 308, 400, 401, 403, 404, 409, 412, 416, 501})
    CHECK_FALSE(is_passing(status));
  CHECK(refusal_of(true) == CreateRefusal::kReadBack);
  CHECK(refusal_of(false) == CreateRefusal::kAlreadyThere);
}

TEST_CASE("A status that passes is an error that says so, in one table for all clients", "[B12]") {
  CHECK(errc_of_status(408) == Errc::kTimeout);
  CHECK(errc_of_status(504) == Errc::kTimeout);
  CHECK(errc_of_status(412) == Errc::kAlreadyExists);
  CHECK(errc_of_status(416) == Errc::kCorrupt);
  CHECK(errc_of_status(503) == Errc::kUnavailable);
}

TEST_CASE("next_upload_step reads what a resumable upload is told", "[checkpoint_store]") {
  using Kind = UploadStep::Kind;
  struct Row {
    int status;
    std::string range;
    Kind kind;
    std::int64_t stored;
  };
  const Row rows[] = {
      {200, "", Kind::kDone, 0},
      {201, "", Kind::kDone, 0},
      {308, "", Kind::kStored, 0},
      {308, "bytes=0-255", Kind::kStored, 256},
      {308, "bytes=0-999", Kind::kStored, 1000},
      {308, "bytes=0-1000", Kind::kFailed, 0},
      {308, "bytes=1-255", Kind::kFailed, 0},
      {308, "0-255", Kind::kFailed, 0},
      {308, "bytes=0-x", Kind::kFailed, 0},
      {404, "", Kind::kStartOver, 0},
      {410, "", Kind::kStartOver, 0},
      {412, "", Kind::kRefused, 0},
      {503, "", Kind::kAsk, 0},
      {429, "", Kind::kAsk, 0},
      {400, "", Kind::kFailed, 0},
      {403, "", Kind::kFailed, 0},
  };
  for (const Row& row : rows) {
    INFO(row.status << " " << row.range);
    StoreAnswer answer{.status = row.status};
    if (!row.range.empty()) answer.fields.push_back({"Range", row.range});
    const UploadStep step = next_upload_step(answer, 1000);
    CHECK(step.kind == row.kind);
    CHECK(step.stored == row.stored);
  }
}

TEST_CASE("requests to GCS", "[checkpoint_store]") {
  CHECK(gcs_get(kPath, "x/y").target ==
        "/storage/v1/b/bucket/o/a%20b%2Fc%2Fx%2Fy?fields=size,generation,crc32c");
  CHECK(gcs_read(kPath, "x", 3, 4).fields[0].value == "bytes=3-6");
  CHECK(gcs_delete(kPath, "x", 17).target ==
        "/storage/v1/b/bucket/o/a%20b%2Fc%2Fx?ifGenerationMatch=17");
  const std::string text = "0123456789";
  const std::vector<Bytes> pieces{bytes_of(text)};
  const StoreRequest chunk = gcs_upload_chunk("/s?upload_id=1", pieces, 4, 3);
  CHECK(chunk.fields[0].value == "bytes 4-6/10");
  CHECK(text_of(chunk.body.at(0)) == "456");
  CHECK(gcs_ask_upload("/s", 10).fields[0].value == "bytes */10");
  CHECK(crc32c_text(crc32c_of(std::vector<Bytes>{bytes_of("123456789")})) == "4waSgw==");
  CHECK(parse_session("https://elsewhere/u?upload_id=1").value() == "/u?upload_id=1");
  CHECK(parse_session("/u?upload_id=1").value() == "/u?upload_id=1");
  CHECK_FALSE(parse_session(""));
  CHECK_FALSE(parse_session("https://elsewhere"));
  CHECK_FALSE(parse_session("/a\r\nb: c"));
}

TEST_CASE("answers of GCS", "[checkpoint_store]") {
  CHECK(parse_gcs_object(R"({"size":"5","generation":"7","crc32c":"AAAAAA=="})").value() ==
        GcsObject{.bytes = 5, .generation = 7, .crc32c = "AAAAAA=="});
  for (const std::string_view bad : {"", "[]", "{}", R"({"size":5,"generation":"7"})",
                                     R"({"size":"-5","generation":"7"})", R"({"size":"5"})"})
    CHECK_FALSE(parse_gcs_object(bad));
  const auto page = parse_gcs_list(
      R"({"items":[{"name":"a b/c/","size":"0"},{"name":"a b/c/x","size":"3"}],"nextPageToken":"t"})",
      kPath);
  REQUIRE(page);
  CHECK(page->objects == std::vector<StoredObject>{{"x", 3}});
  CHECK(page->next == "t");
  CHECK(parse_gcs_list("{}", kPath)->objects.empty());
  CHECK_FALSE(parse_gcs_list(R"({"items":[{"name":"other","size":"3"}]})", kPath));
  CHECK_FALSE(parse_gcs_list(R"({"items":{}})", kPath));
  CHECK(gcs_error_text(R"({"error":{"code":403,"message":"no right"}})") == "no right");
  CHECK(gcs_error_text("<html>") == "<html>");
  CHECK(parse_goog_hash("crc32c=n03x6A==,md5=x") == "n03x6A==");
  CHECK(parse_goog_hash("md5=x, crc32c=n03x6A==") == "n03x6A==");
  CHECK(parse_goog_hash("md5=x").empty());
  const auto token = parse_access_token(R"({"access_token":"t","expires_in":10})");
  CHECK((token && token->token == "t" && token->lifetime == 10s));
  for (const std::string_view bad : {"secret", R"({"access_token":"se cret","expires_in":10})",
                                     R"({"access_token":"secret"})", R"(["secret"])"}) {
    const auto refused = parse_access_token(bad);
    REQUIRE_FALSE(refused);
    CHECK_FALSE(refused.error().context.contains("secret"));
  }
}

TEST_CASE("slice gives the bytes of a range, without copying", "[checkpoint_store]") {
  const std::vector<Bytes> pieces{bytes_of("012"), {}, bytes_of("3456"), bytes_of("789")};
  for (std::int64_t begin = 0; begin <= 10; ++begin)
    for (std::int64_t bytes = 0; begin + bytes <= 10; ++bytes) {
      std::string text;
      for (const Bytes part : slice(pieces, begin, bytes)) text += text_of(part);
      CHECK(text == std::string("0123456789")
                        .substr(static_cast<std::size_t>(begin), static_cast<std::size_t>(bytes)));
    }
}

}  // namespace
}  // namespace amdahl::checkpoint

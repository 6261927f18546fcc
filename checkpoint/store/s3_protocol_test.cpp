// What is pure about S3: signatures, XML, requests and answers.
#include "checkpoint/store/s3_protocol.hpp"

#include <catch2/catch.hpp>

#include "checkpoint/store/sigv4.hpp"
#include "checkpoint/store/small_xml.hpp"

namespace amdahl::checkpoint {
namespace {

const S3Place kPlace{.path = {.bucket = "bucket", .folder = "a/b/"}};

// The examples of "Signature Calculations for the Authorization Header" of Amazon's documentation.
TEST_CASE("sign_v4 gives the signatures of the documentation", "[checkpoint_store]") {
  struct Row {
    StoreRequest request;
    std::string payload;
    std::string signature;
  };
  const std::string empty = hex(sha256(""));
  const Row rows[] = {
      {{.target = "/test.txt", .fields = {{"range", "bytes=0-9"}}},
       empty,
       "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"},
      {{.method = "PUT",
        .target = "/test%24file.text",
        .fields = {{"date", "Fri, 24 May 2013 00:00:00 GMT"},
                   {"x-amz-storage-class", "REDUCED_REDUNDANCY"}}},
       hex(sha256("Welcome to Amazon S3.")),
       "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"},
      {{.target = "/?lifecycle"},
       empty,
       "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"},
      {{.target = "/?prefix=J&max-keys=2"},
       empty,
       "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"},
  };
  for (const Row& row : rows) {
    StoreRequest request = row.request;
    sign_v4(request,
            {.access_key = "AKIAIOSFODNN7EXAMPLE",
             .secret_key = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"},
            {.host = "examplebucket.s3.amazonaws.com",
             .region = "us-east-1",
             .now = parse_time("2013-05-24T00:00:00Z").value()},
            row.payload);
    CHECK_THAT(request.fields.back().value, Catch::EndsWith("Signature=" + row.signature));
  }
}

TEST_CASE("parse_xml reads elements and text", "[checkpoint_store]") {
  const auto root = parse_xml(
      " \n<?xml version=\"1.0\"?>\n<A x='1' y=\"&lt;\"><B>a&amp;&#65;&#x20AC;</B><C/><B> 2 </B "
      "></A>\n");
  REQUIRE(root);
  CHECK(root->name == "A");
  CHECK(root->children.size() == 3);
  CHECK(root->text_of_child("B") == "a&A\xE2\x82\xAC");
  CHECK(root->text_of_child("C").empty());
  CHECK(root->child("D") == nullptr);
  for (const std::string_view bad : {"",
                                     "a",
                                     "<",
                                     "<A",
                                     "<A>",
                                     "<A></B>",
                                     "<A/>x",
                                     "<A/><B/>",
                                     "<A>&x;</A>",
                                     "<A>&#0;</A>",
                                     "<A>&#xD800;</A>",
                                     "<A>&#x110000;</A>",
                                     "<A>&amp</A>",
                                     "<!DOCTYPE a><A/>",
                                     "<A><!-- c --></A>",
                                     "<A><![CDATA[x]]></A>",
                                     "<A b></A>",
                                     "<A b=c/>",
                                     "<A b='/>",
                                     "< A/>",
                                     "<?xml <A/>",
                                     "<A><?p?></A>"}) {
    INFO(bad);
    CHECK_FALSE(parse_xml(bad));
  }
  std::string deep;
  for (std::size_t i = 0; i <= kXmlDepthMax; ++i) deep += "<A>";
  CHECK(parse_xml(deep).error().code == Errc::kTooLarge);
  std::string wide = "<A>";
  for (std::size_t i = 0; i <= kXmlElementsMax; ++i) wide += "<A/>";
  CHECK(parse_xml(wide).error().code == Errc::kTooLarge);
  CHECK(parse_xml(std::string(kXmlBytesMax + 1, ' ')).error().code == Errc::kTooLarge);
}

TEST_CASE("requests to S3", "[checkpoint_store]") {
  CHECK(s3_head(kPlace, "x y").target == "/bucket/a/b/x%20y");
  CHECK(s3_head({.path = kPlace.path, .style = BucketStyle::kHost}, "x").target == "/a/b/x");
  CHECK(s3_put(kPlace, "x", {}, "sum").fields ==
        std::vector<HttpField>{{"if-none-match", "*"}, {"x-amz-checksum-crc32c", "sum"}});
  CHECK(s3_list(kPlace, "data/", "t=").target ==
        "/bucket/?continuation-token=t%3D&encoding-type=url&list-type=2&max-keys=1000&"
        "prefix=a%2Fb%2Fdata%2F");
  const S3Upload upload{.key = "a/b/x", .id = "i/d+"};
  CHECK(s3_abort(kPlace, upload).target == "/bucket/a/b/x?uploadId=i%2Fd%2B");
  const S3Part part{.number = 2, .begin = 1, .bytes = 2, .crc32c = 0x01020304, .etag = "\"e\""};
  const std::string text = "0123";
  const std::vector<Bytes> pieces{bytes_of(text)};
  CHECK(s3_put_part(kPlace, upload, part, pieces).target ==
        "/bucket/a/b/x?partNumber=2&uploadId=i%2Fd%2B");
  CHECK(text_of(s3_put_part(kPlace, upload, part, pieces).body.at(0)) == "12");
  CHECK_THAT(s3_complete_text({&part, 1}),
             Catch::Contains("<ChecksumCRC32C>AQIDBA==</ChecksumCRC32C><ETag>&quot;e&quot;</ETag>"
                             "<PartNumber>2</PartNumber>"));
}

TEST_CASE("cut_into_parts stays below the number of parts", "[checkpoint_store]") {
  for (const std::int64_t bytes :
       {std::int64_t{1}, kS3PartBytesMin, kS3PartBytesMin + 1, kS3PartBytesMin * kS3PartsMax,
        kS3PartBytesMin * kS3PartsMax + 1, std::int64_t{1} << 42U}) {
    const auto parts = cut_into_parts(bytes, kS3PartBytesMin);
    CHECK(parts.size() <= static_cast<std::size_t>(kS3PartsMax));
    std::int64_t at = 0;
    for (const S3Part& part : parts) {
      CHECK(part.begin == at);
      at += part.bytes;
      CHECK((part.bytes >= kS3PartBytesMin || at == bytes));
    }
    CHECK(at == bytes);
  }
}

TEST_CASE("answers of S3", "[checkpoint_store]") {
  const BucketPath path = kPlace.path;
  const auto page = parse_s3_list(
      "<ListBucketResult><EncodingType>url</EncodingType><IsTruncated>true</IsTruncated>"
      "<Contents><Key>a/b/</Key><Size>0</Size></Contents>"
      "<Contents><Key>a/b/x+y%2Bz</Key><Size>3</Size></Contents>"
      "<NextContinuationToken>t&amp;</NextContinuationToken></ListBucketResult>",
      path);
  REQUIRE(page);
  CHECK(page->objects == std::vector<StoredObject>{{"x y+z", 3}});
  CHECK(page->next == "t&");
  for (const std::string_view bad :
       {"<Other/>", "<ListBucketResult/>",
        "<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>",
        "<ListBucketResult><IsTruncated>false</IsTruncated>"
        "<Contents><Key>c</Key><Size>3</Size></Contents></ListBucketResult>",
        "<ListBucketResult><IsTruncated>false</IsTruncated>"
        "<Contents><Key>a/b/c</Key></Contents></ListBucketResult>"})
    CHECK_FALSE(parse_s3_list(bad, path));
  CHECK(
      parse_s3_list("<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>", path));
  CHECK(parse_s3_upload_id("<InitiateMultipartUploadResult><UploadId>u</UploadId>"
                           "</InitiateMultipartUploadResult>")
            .value() == "u");
  CHECK_FALSE(parse_s3_upload_id("<InitiateMultipartUploadResult/>"));
  const auto uploads = parse_s3_uploads(
      "<ListMultipartUploadsResult><Upload><Key>a/b/x</Key><UploadId>1</UploadId>"
      "<Initiated>2026-01-02T03:04:05.000Z</Initiated></Upload><Upload><Key>z</Key>"
      "<UploadId>2</UploadId><Initiated>2026-01-02T03:04:05.000Z</Initiated></Upload>"
      "</ListMultipartUploadsResult>",
      path);
  REQUIRE(uploads);
  CHECK(uploads->uploads.size() == 1);
  CHECK(parse_s3_error("<Error><Code>SlowDown</Code><Message>m</Message></Error>").code ==
        "SlowDown");
  CHECK(is_hidden_error({.status = 200, .body = "<Error><Code>InternalError</Code></Error>"}));
  CHECK_FALSE(is_hidden_error({.status = 200, .body = "<CompleteMultipartUploadResult/>"}));
  CHECK_FALSE(is_done({.status = 200, .body = "<Error><Code>InternalError</Code></Error>"}));
}

}  // namespace
}  // namespace amdahl::checkpoint

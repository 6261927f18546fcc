#include "checkpoint/store/open_store.hpp"

#include <catch2/catch.hpp>
#include <map>

namespace amdahl::checkpoint {
namespace {

RealClock real_clock;
using Variables = std::map<std::string, std::string, std::less<>>;

// What it opens, or why it does not.
std::string opened(std::string_view uri, Variables variables = {}) {
  const StoreOptions options{.clock = real_clock,
                             .rng = Rng(1),
                             .variable = [variables = std::move(variables)](std::string_view name) {
                               const auto found = variables.find(name);
                               return found == variables.end() ? std::string() : found->second;
                             }};
  const auto store = open_store(uri, options);
  return store ? (*store)->describe() : store.error().context;
}

TEST_CASE("open_store reads an address", "[checkpoint_store]") {
  const Variables keys{{"AWS_ACCESS_KEY_ID", "a"}, {"AWS_SECRET_ACCESS_KEY", "the-secret"}};
  CHECK(opened("/checkpoints/job/") == "file:///checkpoints/job");
  CHECK(opened("file:///checkpoints") == "file:///checkpoints");
  CHECK(opened("gs://bucket/a/b") == "gs://bucket/a/b/");
  CHECK(opened("gs://bucket") == "gs://bucket/");
  CHECK(opened("s3://bucket/a", keys) == "s3://bucket/a/");
  CHECK(opened("s3://dotted.bucket/a", keys) == "s3://dotted.bucket/a/");
}

TEST_CASE("open_store says what is wrong with an address", "[checkpoint_store]") {
  using Catch::Contains;
  for (const std::string_view uri :
       {"", "relative", "http://host/a", "az://a/b", "gs:/a", "S3://b"})
    CHECK_THAT(opened(uri), Contains("file:///path, gs://bucket/prefix or s3://bucket/prefix"));
  CHECK_THAT(opened("file://host/a"), Contains("absolute path"));
  CHECK_THAT(opened("/a/../b"), Contains("absolute path"));
  CHECK_THAT(opened("gs://"), Contains("no name of a bucket"));
  CHECK_THAT(opened("gs://bucket/../a"), Contains("no name of an object"));
  CHECK_THAT(opened("s3://bucket/a"), Contains("AWS_ACCESS_KEY_ID"));
  CHECK_THAT(opened("gs://bucket", {{"STORAGE_EMULATOR_HOST", "ftp://x"}}),
             Contains("STORAGE_EMULATOR_HOST"));
  CHECK_THAT(opened("gs://bucket", {{"GCE_METADATA_HOST", "a b"}}), Contains("GCE_METADATA_HOST"));
  Variables keys{{"AWS_ACCESS_KEY_ID", "a"}, {"AWS_SECRET_ACCESS_KEY", "the-secret"}};
  keys["AWS_ENDPOINT_URL"] = "nonsense://";
  CHECK_THAT(opened("s3://bucket/a", keys), Contains("AWS_ENDPOINT_URL"));
  CHECK_FALSE(opened("s3://bucket/a", keys).contains("the-secret"));
  keys["AWS_REGION"] = "eu west";
  CHECK_THAT(opened("s3://bucket/a", keys), Contains("AWS_REGION"));
}

}  // namespace
}  // namespace amdahl::checkpoint

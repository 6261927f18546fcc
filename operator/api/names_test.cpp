#include "operator/api/names.hpp"

#include <catch2/catch.hpp>
#include <limits>

#include "operator/api/bounds.hpp"

namespace amdahl::api {
namespace {

TEST_CASE("Names of children follow from the job") {
  CHECK(pod_name("llama-ft", 2, 0) == "llama-ft-2-0");
  CHECK(service_name("llama-ft") == "llama-ft-gang");
  CHECK(pod_group_name("llama-ft") == "llama-ft-gang");
  CHECK(rank_host("llama-ft", 2, 7) == "llama-ft-2-7.llama-ft-gang");
  CHECK(rendezvous_id("0f3c", 3) == "0f3c-3");
  CHECK(job_selector("llama-ft") == "amdahl.dev/job=llama-ft");
}

TEST_CASE("Jobs and attempts that share a machine have ports of their own, always the same") {
  const std::uint16_t port = shared_master_port("0f3c", 3);
  CHECK(port == 19'157);
  CHECK(shared_master_port("0f3c", 4) != port);
  CHECK(shared_master_port("0f3d", 3) != port);
  for (std::uint32_t attempt = 1; attempt < 1'000; ++attempt) {
    const std::uint16_t one = shared_master_port("0f3c", attempt);
    CHECK((one >= 10'000 && one < 20'000));
  }
}

TEST_CASE("Names of children of the longest job are DNS labels") {
  const std::string job(kJobNameMax, 'j');
  const auto last = std::numeric_limits<std::uint32_t>::max();
  CHECK(pod_name(job, last, kNodesMax - 1).size() <= kLabelMax);
  CHECK(service_name(job).size() <= kLabelMax);
  CHECK(pod_group_name(job).size() <= kLabelMax);
  CHECK(family_of(job).size() <= kLabelMax);
}

TEST_CASE("Names tell the pods of different jobs apart") {
  CHECK(pod_name("a", 1, 10) != pod_name("a-1", 1, 0));
  CHECK(pod_name("a-1", 1, 0) != pod_name("a", 11, 0));
}

TEST_CASE("pod_identity reads the labels back, and only ours") {
  const PackedMap good{{label::kJob, "llama"}, {label::kAttempt, "3"}, {label::kRank, "0"}};
  CHECK(pod_identity(good) == PodIdentity{.job = "llama", .attempt = 3, .node_rank = 0});
  CHECK_FALSE(pod_identity({}));
  CHECK_FALSE(pod_identity({{label::kJob, "llama"}, {label::kAttempt, "3"}}));
  CHECK_FALSE(pod_identity({{label::kJob, ""}, {label::kAttempt, "3"}, {label::kRank, "0"}}));
  for (const char* wrong : {"", "-1", "1x", "4294967296", " 1"}) {
    CAPTURE(wrong);
    CHECK_FALSE(
        pod_identity({{label::kJob, "llama"}, {label::kAttempt, wrong}, {label::kRank, "0"}}));
  }
}

TEST_CASE("family_of drops a trailing number or hash, once") {
  const std::pair<std::string_view, std::string_view> rows[] = {
      {"llama-ft", "llama-ft"},
      {"llama-ft-7", "llama-ft"},
      {"llama-ft-20261117", "llama-ft"},
      {"llama-ft-3-4", "llama-ft-3"},
      {"llama-ft-x7k2p", "llama-ft"},        // generateName
      {"llama-ft-bcdfg", "llama-ft"},        // the same, by chance without a digit
      {"llama-ft-tests", "llama-ft-tests"},  // a word has vowels
      {"llama-ft-3fa9c1", "llama-ft"},       // a commit
      {"llama-ft-facade", "llama-ft-facade"},
      {"llama-ft-405b", "llama-ft-405b"},
      {"mixtral-8x22b", "mixtral-8x22b"},  // five letters of generateName, but a size
      {"mixtral-8x22b-x7k2p", "mixtral-8x22b"},
      {"mixtral-x8x2b", "mixtral"},
      {"phi-2467b", "phi-2467b"},
      {"phi-1234567b", "phi"},  // a commit
      {"llama--7", "llama"},
      {"llama3", "llama3"},
      {"a-1", "a"},
      {"x", "x"},
      {"", ""},
  };
  for (const auto& [job, family] : rows) {
    CAPTURE(job);
    CHECK(family_of(job) == family);
  }
}

}  // namespace
}  // namespace amdahl::api

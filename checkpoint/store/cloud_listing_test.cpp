// Listings in any order, with repetitions, holes and loops: right, or an error, never a part.
#include <algorithm>
#include <catch2/catch.hpp>

#include "checkpoint/store/page_walk.hpp"
#include "checkpoint/store/test_cloud.hpp"

namespace amdahl::checkpoint {
namespace {

using Catch::Contains;
using enum FakeListing;
const WallTime kLater{std::chrono::seconds{1'800'000'000}};

std::string key(std::string_view name) {
  return std::string(kTestFolder) + std::string(name);
}

// Seven manifests, one of them the newest, and what lies beside them.
std::vector<StoredObject> fill(Cloud& cloud) {
  std::vector<StoredObject> manifests;
  for (std::int64_t step = 1; step <= 7; ++step) {
    manifests.push_back({fmt::format("manifests/{:03}", step), step});
    cloud.put(key(manifests.back().name), std::string(static_cast<std::size_t>(step), 'm'));
  }
  cloud.put(key("data/x"), "1");
  cloud.put(key("pins/y"), "1");
  return manifests;
}

template <class Check>
void for_each_cloud(Check check) {
  for (const std::size_t page_max : {1, 2, 3, 7, 100}) {
    GcsCloud gcs;
    S3Cloud s3;
    for (Cloud* const cloud : {static_cast<Cloud*>(&gcs), static_cast<Cloud*>(&s3)}) {
      cloud->set_page_max(page_max);
      INFO(cloud->name() << ", pages of " << page_max);
      check(*cloud);
    }
  }
}

TEST_CASE("cloud stores list each object once, whatever order its pages have",
          "[checkpoint_store]") {
  for_each_cloud([](Cloud& cloud) {
    const std::vector<StoredObject> manifests = fill(cloud);
    const auto store = cloud.open({});
    for (const FakeListing listing : {kSorted, kReversed, kShuffled, kRepeated, kEmptyPages}) {
      INFO("listing " << static_cast<int>(listing));
      cloud.set_listing(listing);
      CHECK(list_all(*store, "manifests/", {}).value() == manifests);
      CHECK(list_all(*store, "", {}).value().size() == manifests.size() + 2);
      CHECK(list_all(*store, "nothing/", {}).value().empty());
    }
  });
}

TEST_CASE("cloud stores miss nothing when another object vanishes between pages",
          "[checkpoint_store]") {
  for (const FakeListing listing : {kSorted, kReversed, kShuffled, kRepeated, kEmptyPages}) {
    for (std::size_t gone = 0; gone < 7; ++gone) {
      for_each_cloud([&](Cloud& cloud) {
        std::vector<StoredObject> manifests = fill(cloud);
        const std::string vanishing = manifests[gone].name;
        INFO("listing " << static_cast<int>(listing) << " without " << vanishing);
        cloud.set_listing(listing);
        cloud.set_vanishing(key(vanishing));
        auto listed = list_all(*cloud.open({}), "manifests/", {}).value();
        // Whether it was seen before it went is the server's business.
        const auto is_gone = [&](const StoredObject& object) { return object.name == vanishing; };
        std::erase_if(listed, is_gone);
        std::erase_if(manifests, is_gone);
        CHECK(listed == manifests);
        CHECK_FALSE(cloud.objects().contains(key(vanishing)));
      });
    }
  }
}

TEST_CASE("cloud stores refuse a listing that leads back or contradicts itself",
          "[checkpoint_store]") {
  struct Row {
    FakeListing listing;
    std::string said;
  };
  const Row rows[] = {{kLeadsToSelf, "leads back to one that was read"},
                      {kLeadsBack, "leads back to one that was read"},
                      {kContradicting, "is listed with 1 and with 2 bytes"},
                      {kUnasked, "unasked\" is listed, which was not asked for"}};
  for_each_cloud([&](Cloud& cloud) {
    fill(cloud);
    const auto store = cloud.open({});
    for (const Row& row : rows) {
      cloud.set_listing(row.listing);
      cloud.server().set_fault({});
      const auto listed = list_all(*store, "manifests/", {});
      REQUIRE_FALSE(listed);
      CHECK(listed.error().code == Errc::kCorrupt);
      CHECK_THAT(listed.error().context, Contains(row.said) && Contains("prefix/manifests/"));
      CHECK(cloud.server().requests().size() <= 8);
    }
  });
}

TEST_CASE("cloud stores end a listing that never does, at the deadline or after its last page",
          "[checkpoint_store]") {
  GcsCloud cloud;
  cloud.set_listing(kEndless);
  RealClock clock;
  const auto store = cloud.open({});
  const StoreCall call{.deadline = clock.monotonic() + std::chrono::milliseconds(100)};
  CHECK(list_all(*store, "", call).error().code == Errc::kTimeout);

  PageWalk walk(3);
  CHECK(walk.enter(""));
  CHECK(walk.enter("a"));
  CHECK(walk.enter("b"));
  const Error many = walk.enter("c").error();
  CHECK(many.code == Errc::kTooLarge);
  CHECK_THAT(many.context, Contains("more than 3 pages"));
  CHECK(walk.enter("a").error().code == Errc::kCorrupt);
  CHECK(PageWalk().enter(std::string(kListTokenBytesMax + 1, 'x')).error().code == Errc::kCorrupt);
}

TEST_CASE("S3Store finds every old upload, whatever order its pages have", "[checkpoint_store]") {
  for (const FakeListing listing : {kSorted, kReversed, kShuffled, kEmptyPages}) {
    S3Cloud cloud;
    cloud.set_page_max(2);
    cloud.set_listing(listing);
    for (int i = 0; i < 7; ++i) cloud.fake.begin_upload(key(fmt::format("data/{}", i)));
    cloud.fake.begin_upload("elsewhere/x");
    CHECK(cloud.open({})->remove_leftovers(kLater, {}).value() == 7);
    CHECK(cloud.leftovers() == 1);
  }
  for (const FakeListing listing : {kLeadsToSelf, kLeadsBack}) {
    S3Cloud cloud;
    cloud.set_listing(listing);
    const Error refused = cloud.open({})->remove_leftovers(kLater, {}).error();
    CHECK(refused.code == Errc::kCorrupt);
    CHECK_THAT(refused.context, Contains("list uploads of s3://test-bucket/some/prefix/"));
  }
}

}  // namespace
}  // namespace amdahl::checkpoint

// What the fault tables do not say about GcsStore and S3Store.
#include <catch2/catch.hpp>

#include "checkpoint/store/test_cloud.hpp"

namespace amdahl::checkpoint {
namespace {

using namespace std::chrono_literals;
using Catch::Contains;
const std::string kLarge(3 * kTestSmallMax + 5, 'x');
const WallTime kLater{std::chrono::seconds{1'800'000'000}};

Result<void> put(Store& store, std::string_view name, std::string_view text,
                 const StoreCall& call = {}) {
  const std::vector<Bytes> pieces{bytes_of(text)};
  return store.create(name, pieces, call);
}

std::string key(std::string_view name) {
  return std::string(kTestFolder) + std::string(name);
}

TEST_CASE("cloud stores: after a lost answer, the same bytes are a success and others are not",
          "[checkpoint_store]") {
  GcsCloud gcs;
  S3Cloud s3;
  S3Cloud without_sums;
  without_sums.fake.sums = false;
  for (Cloud* const cloud :
       {static_cast<Cloud*>(&gcs), static_cast<Cloud*>(&s3), static_cast<Cloud*>(&without_sums)}) {
    INFO(cloud->name());
    const auto store = cloud->open({});
    cloud->server().set_fault({.at = 0, .kind = FakeFaultKind::kLoseReply});
    CHECK(put(*store, "mine", "1234"));
    // Not ours: no answer came, and somebody else was first.
    cloud->put(key("theirs"), "5678");
    cloud->server().set_fault({.at = 0, .kind = FakeFaultKind::kDropRequest});
    CHECK(put(*store, "theirs", "1234").error().code == Errc::kAlreadyExists);
    cloud->server().set_fault({});
    // Without doubt there is no need to look.
    CHECK(put(*store, "theirs", "5678").error().code == Errc::kAlreadyExists);
    CHECK(put(*store, "theirs", kLarge).error().code == Errc::kAlreadyExists);
    CHECK(cloud->objects().at(key("theirs")) == "5678");
  }
}

TEST_CASE("cloud stores wait as long as the server wishes", "[checkpoint_store]") {
  GcsCloud cloud;
  const auto store = cloud.open({});
  cloud.server().set_fault(
      {.at = 0, .kind = FakeFaultKind::kStatus, .status = 429, .retry_after = "1"});
  RealClock clock;
  const Monotonic begin = clock.monotonic();
  CHECK(put(*store, "a", "1"));
  CHECK(clock.monotonic() - begin >= 1s);
}

TEST_CASE("cloud stores give up after a bounded number of attempts", "[checkpoint_store]") {
  GcsCloud gcs;
  S3Cloud s3;
  for (Cloud* const cloud : {static_cast<Cloud*>(&gcs), static_cast<Cloud*>(&s3)}) {
    const auto store = cloud->open({.attempts_max = 4});
    cloud->server().set_fault(
        {.at = 0, .kind = FakeFaultKind::kStatus, .status = 503, .always = true});
    CHECK(store->size("a", {}).error().code == Errc::kUnavailable);
    CHECK(cloud->server().requests().size() == 4);
    cloud->server().set_fault({.at = 0, .kind = FakeFaultKind::kSlow, .always = true});
    RealClock clock;
    const Monotonic begin = clock.monotonic();
    CHECK(store->size("a", {.deadline = begin + 200ms}).error().code == Errc::kTimeout);
    CHECK(clock.monotonic() - begin < 2s);
  }
}

TEST_CASE("cloud stores get over a connection that ends after any number of bytes",
          "[checkpoint_store]") {
  GcsCloud gcs;
  S3Cloud s3;
  const std::string text(1001, 'x');
  for (Cloud* const cloud : {static_cast<Cloud*>(&gcs), static_cast<Cloud*>(&s3)}) {
    const auto store = cloud->open({});
    for (std::int64_t bytes = 0; bytes < 1400; bytes += 17) {
      INFO(cloud->name() << " after " << bytes << " bytes");
      const std::string name = fmt::format("data/{}", bytes);
      cloud->server().set_fault({.at = 0, .kind = FakeFaultKind::kDropRequest, .bytes = bytes});
      REQUIRE(put(*store, name, text));
      cloud->server().set_fault({.at = 0, .kind = FakeFaultKind::kCutReply, .bytes = bytes});
      REQUIRE(put(*store, name + "-again", text));
      for (const int at : {0, 1}) {
        cloud->server().set_fault({.at = at, .kind = FakeFaultKind::kCutReply, .bytes = bytes});
        REQUIRE(read_whole(*store, name, text.size(), {}).value() == text);
        cloud->server().set_fault({.at = at, .kind = FakeFaultKind::kCutReply, .bytes = bytes});
        REQUIRE(list_all(*store, name, {}).value().front() == StoredObject{name, 1001});
      }
      cloud->server().set_fault({.at = 0, .kind = FakeFaultKind::kCutReply, .bytes = bytes});
      REQUIRE(store->remove(name + "-again", {}));
      REQUIRE_FALSE(cloud->objects().contains(key(name + "-again")));
    }
  }
}

TEST_CASE("cloud stores read an answer that trickles, until the deadline", "[checkpoint_store]") {
  GcsCloud gcs;
  S3Cloud s3;
  for (Cloud* const cloud : {static_cast<Cloud*>(&gcs), static_cast<Cloud*>(&s3)}) {
    const auto store = cloud->open({});
    REQUIRE(put(*store, "a", "1"));
    cloud->server().set_fault({.at = 0, .kind = FakeFaultKind::kTrickle, .always = true});
    CHECK(store->size("a", {}).value() == 1);
    RealClock clock;
    const Monotonic begin = clock.monotonic();
    CHECK(store->size("a", {.deadline = begin + 100ms}).error().code == Errc::kTimeout);
    CHECK(clock.monotonic() - begin < 2s);
  }
}

TEST_CASE("GcsStore leaves an object that took the place of the one it was to remove",
          "[checkpoint_store]") {
  GcsCloud cloud;
  const auto store = cloud.open({});
  REQUIRE(put(*store, "a", "1"));
  cloud.server().set_fault({.at = 1, .kind = FakeFaultKind::kStatus, .status = 412});
  const Error refused = store->remove("a", {}).error();
  CHECK(refused.code == Errc::kConflict);
  CHECK_THAT(refused.context, Contains("it stays"));
  CHECK(cloud.objects().contains(key("a")));
}

TEST_CASE("GcsStore takes its token from the metadata server", "[checkpoint_store]") {
  GcsCloud cloud;
  cloud.fake.set_token("token-one");
  GcsAccess access{.from_metadata = true, .metadata = cloud.server().endpoint()};
  const auto store = cloud.open_with(access);
  CHECK(put(*store, "a", "1"));
  CHECK(put(*store, "b", "2"));
  CHECK(cloud.fake.tokens_given() == 1);
  cloud.fake.refuse_token_once();
  CHECK(put(*store, "c", "3"));
  CHECK(cloud.fake.tokens_given() == 2);
  cloud.fake.refuse_token_once();
  CHECK(put(*store, "large", kLarge));
  CHECK(cloud.fake.tokens_given() == 3);
  // Some other server at that address.
  cloud.fake.metadata_flavor = false;
  const Error refused = put(*cloud.open_with(access), "d", "4").error();
  CHECK(refused.code == Errc::kUnauthorized);
  CHECK_THAT(refused.context, Contains("metadata server"));
}

TEST_CASE("GcsStore starts over when its session is gone", "[checkpoint_store]") {
  GcsCloud cloud;
  const auto store = cloud.open({});
  cloud.server().set_fault({.at = 2, .kind = FakeFaultKind::kStatus, .status = 410});
  CHECK(put(*store, "a", kLarge));
  CHECK(cloud.objects().at(key("a")) == kLarge);
  cloud.server().set_fault(
      {.at = 1, .kind = FakeFaultKind::kStatus, .status = 410, .always = true});
  CHECK_FALSE(put(*store, "b", kLarge));
  cloud.server().set_fault({});
  CHECK_FALSE(cloud.objects().contains(key("b")));
}

TEST_CASE("GcsStore goes on where an interrupted chunk ended", "[checkpoint_store]") {
  GcsCloud cloud;
  const auto store = cloud.open({});
  cloud.server().set_fault({.at = 2, .kind = FakeFaultKind::kDropRequest});
  CHECK(put(*store, "a", kLarge));
  CHECK(cloud.objects().at(key("a")) == kLarge);
}

TEST_CASE("S3Store starts over after a conflict, and aborts what it gives up",
          "[checkpoint_store]") {
  S3Cloud cloud;
  const auto store = cloud.open({});
  const int completion = 1 + 4;  // begin, four parts
  cloud.server().set_fault({.at = completion, .kind = FakeFaultKind::kStatus, .status = 409});
  CHECK(put(*store, "a", kLarge));
  CHECK(cloud.objects().at(key("a")) == kLarge);
  CHECK(cloud.leftovers() == 0);
  cloud.server().set_fault({.at = completion, .kind = FakeFaultKind::kStatus, .status = 403});
  CHECK(put(*store, "b", kLarge).error().code == Errc::kForbidden);
  CHECK(cloud.leftovers() == 0);
  cloud.server().set_fault({.at = completion, .kind = FakeFaultKind::kError200});
  CHECK(put(*store, "c", kLarge));
}

TEST_CASE("S3Store aborts old uploads below its prefix only", "[checkpoint_store]") {
  S3Cloud cloud;
  cloud.set_page_max(1);
  const auto store = cloud.open({});
  for (const std::string name : {"a", "b", "c"}) {
    // Everything after the first part fails, the abort too.
    cloud.server().set_fault(
        {.at = 2, .kind = FakeFaultKind::kStatus, .status = 403, .always = true});
    CHECK_FALSE(put(*store, name, kLarge));
  }
  cloud.server().set_fault({});
  cloud.fake.begin_upload("elsewhere/x");
  REQUIRE(cloud.leftovers() == 4);
  CHECK(store->remove_leftovers(WallTime{std::chrono::seconds{1'600'000'000}}, {}).value() == 0);
  CHECK(store->remove_leftovers(kLater, {}).value() == 3);
  CHECK(cloud.leftovers() == 1);
}

TEST_CASE("no error holds a secret", "[checkpoint_store]") {
  GcsCloud gcs;
  S3Cloud s3;
  gcs.fake.set_token("ya29.the-real-token");
  const std::string secrets[] = {"ya29", "wrong-token", std::string(FakeS3::kSecretKey),
                                 std::string(FakeS3::kSessionToken), "not-the-secret-key"};
  s3.secret_key = "not-the-secret-key";
  const auto gcs_store = gcs.open_with({.token = "wrong-token"}, {});
  const auto s3_store = s3.open({});
  for (Store* const store : {gcs_store.get(), s3_store.get()}) {
    std::byte one{};
    const std::string texts[] = {put(*store, "a", "1").error().context,
                                 put(*store, "a", kLarge).error().context,
                                 store->size("a", {}).error().context,
                                 store->read("a", 0, {&one, 1}, {}).error().context,
                                 store->list("", "", {}).error().context,
                                 store->remove("a", {}).error().context,
                                 store->describe()};
    for (const std::string& text : texts) {
      CHECK_FALSE(text.empty());
      for (const std::string& secret : secrets) CHECK_FALSE(text.contains(secret));
    }
  }
  CHECK(put(*gcs_store, "a", "1").error().code == Errc::kUnauthorized);
  CHECK(put(*s3_store, "a", "1").error().code == Errc::kForbidden);
  CHECK_THAT(put(*s3_store, "a", "1").error().context, Contains("SignatureDoesNotMatch"));
}

TEST_CASE("cloud stores send a signed request over a name with any character",
          "[checkpoint_store]") {
  GcsCloud gcs;
  S3Cloud s3;
  for (Cloud* const cloud : {static_cast<Cloud*>(&gcs), static_cast<Cloud*>(&s3)}) {
    const auto store = cloud->open({});
    const std::string name = "data/!$&'()*+,;=:@~%41?#[]\"<>";
    REQUIRE(put(*store, name, "1"));
    CHECK(cloud->objects().contains(key(name)));
    CHECK(store->size(name, {}).value() == 1);
    CHECK(list_all(*store, "data/!$", {}).value() == std::vector<StoredObject>{{name, 1}});
    CHECK(store->remove(name, {}));
    CHECK(cloud->objects().empty());
    CHECK(put(*store, "../a", "1").error().code == Errc::kInvalid);
  }
}

TEST_CASE("cloud stores notice that bytes were changed on the way", "[checkpoint_store]") {
  GcsCloud gcs;
  S3Cloud s3;
  for (Cloud* const cloud : {static_cast<Cloud*>(&gcs), static_cast<Cloud*>(&s3)}) {
    const auto store = cloud->open({});
    REQUIRE(put(*store, "a", "0123456789"));
    std::string text(10, '\0');
    const auto into = std::as_writable_bytes(std::span(text));
    cloud->server().set_fault({.at = 0, .kind = FakeFaultKind::kCorruptReply});
    CHECK(store->read("a", 0, into, {}));
    CHECK(text == "0123456789");
    cloud->server().set_fault({.at = 0, .kind = FakeFaultKind::kCorruptReply, .always = true});
    CHECK(store->read("a", 0, into, {}).error().code == Errc::kCorrupt);
  }
}

}  // namespace
}  // namespace amdahl::checkpoint

// Every HTTP step of every operation, with every fault.
#include <catch2/catch.hpp>
#include <functional>

#include "checkpoint/store/test_cloud.hpp"

namespace amdahl::checkpoint {
namespace {

constexpr std::string_view kName = "data/object";
const std::string kKey = std::string(kTestFolder) + std::string(kName);

std::string content(bool large) {
  std::string bytes(large ? 3 * kTestSmallMax + 77 : 1001, '\0');
  Rng rng(bytes.size());
  for (char& byte : bytes) byte = static_cast<char>(rng.next());
  return bytes;
}

Result<void> put(Store& store, std::string_view name, std::string_view text) {
  const std::vector<Bytes> pieces{bytes_of(text.substr(0, text.size() / 3)),
                                  bytes_of(text.substr(text.size() / 3))};
  return store.create(name, pieces, {});
}

Result<void> read_it(Store& store, bool large) {
  const std::string expected = content(large);
  TRY(const std::string text, read_whole(store, kName, expected.size(), {}));
  return text == expected ? Result<void>{} : fail(Errc::kCorrupt, "WRONG BYTES");
}

struct Operation {
  std::string name;
  bool large = false;
  bool there_before = false;
  bool there_after = true;
  std::function<Result<void>(Store&)> run;
};

std::vector<Operation> operations() {
  return {
      {"create small", false, false, true,
       [](Store& store) { return put(store, kName, content(false)); }},
      {"create large", true, false, true,
       [](Store& store) { return put(store, kName, content(true)); }},
      {"read", false, true, true, [](Store& store) { return read_it(store, false); }},
      {"list", false, true, true,
       [](Store& store) -> Result<void> {
         TRY(const auto all, list_all(store, "", {}));
         if (std::ranges::find(all, kName, &StoredObject::name) == all.end())
           return fail(Errc::kCorrupt, "WRONG LIST");
         return {};
       }},
      {"remove", false, true, false, [](Store& store) { return store.remove(kName, {}); }},
  };
}

std::vector<FakeFault> faults_at(int at, const std::string& step, bool s3) {
  using enum FakeFaultKind;
  std::vector<FakeFault> faults;
  for (const FakeFaultKind kind :
       {kDropRequest, kLoseReply, kCutReply, kSlow, kSlowAfter, kCorruptReply, kStaleReply})
    faults.push_back({.at = at, .kind = kind, .status = 0, .always = false});
  for (const int status : {400, 401, 403, 404, 408, 409, 412, 429, 500, 503})
    faults.push_back({.at = at, .kind = kStatus, .status = status, .always = false});
  for (const int status : {500, 503})
    faults.push_back({.at = at, .kind = kStatusAfter, .status = status, .always = false});
  for (const FakeFaultKind kind : {kDropRequest, kLoseReply, kCutReply, kStatus, kStatusAfter})
    faults.push_back({.at = at, .kind = kind, .status = 503, .always = true});
  if (s3 && !step.starts_with("HEAD"))
    faults.push_back({.at = at, .kind = kError200, .status = 200, .always = false});
  return faults;
}

// Transport errors and passing statuses, once: the store gets over them by itself.
bool must_be_survived(const FakeFault& fault) {
  using enum FakeFaultKind;
  if (fault.always) return false;
  if (fault.kind == kStatus || fault.kind == kStatusAfter)
    return fault.status == 408 || fault.status == 429 || fault.status >= 500;
  return fault.kind == kDropRequest || fault.kind == kLoseReply || fault.kind == kCutReply ||
         fault.kind == kSlow || fault.kind == kSlowAfter;
}

// What only the engine's own sums, or TLS, can notice: a name, or bytes without a sum, changed on
// the way; and a server that says that an object is not there.
bool cannot_be_noticed(const Operation& operation, const FakeFault& fault, bool sums) {
  using enum FakeFaultKind;
  if (operation.name == "remove")
    return fault.kind == kStaleReply || (fault.kind == kStatus && fault.status == 404);
  return fault.kind == kCorruptReply &&
         (operation.name == "list" || (operation.name == "read" && !sums));
}

template <class AnyCloud>
void run_with_fault(const Operation& operation, const FakeFault& fault, bool sums) {
  AnyCloud cloud;
  if constexpr (std::is_same_v<AnyCloud, S3Cloud>) cloud.fake.sums = sums;
  cloud.set_page_max(1);
  cloud.put(std::string(kTestFolder) + "a", "1");  // so that lists have pages
  if (operation.there_before) cloud.put(kKey, content(operation.large));
  const bool slow = fault.kind == FakeFaultKind::kSlow || fault.kind == FakeFaultKind::kSlowAfter;
  const auto store = cloud.open(
      {.progress = std::chrono::milliseconds(slow ? 150 : 10'000), .attempts_max = slow ? 6 : 3});
  cloud.server().set_fault(fault);
  const Result<void> result = operation.run(*store);
  cloud.server().set_fault({});

  const bool noticeable = !cannot_be_noticed(operation, fault, sums);
  if (!result && noticeable) {
    CHECK(result.error().context.find("WRONG") == std::string::npos);
    CHECK(result.error().context.find(std::string(FakeGcs::kBucket)) != std::string::npos);
    CHECK_FALSE(must_be_survived(fault));
  }
  const auto objects = cloud.objects();
  if (const auto there = objects.find(kKey); there != objects.end())
    CHECK(there->second == content(operation.large));
  if (result && noticeable) CHECK(objects.contains(kKey) == operation.there_after);

  const auto healthy = cloud.open({});
  const Result<void> again = put(*healthy, kName, content(operation.large));
  if (!again) CHECK(again.error().code == Errc::kAlreadyExists);
  CHECK((again || objects.contains(kKey)));
  CHECK(read_it(*healthy, operation.large));
  CHECK(put(*healthy, "data/another", content(operation.large)));
  const WallTime later{std::chrono::seconds{1'800'000'000}};
  CHECK(healthy->remove_leftovers(later, {}));
  CHECK(cloud.leftovers() == 0);
}

template <class AnyCloud>
int run_all(bool sums = true) {
  int runs = 0;
  for (const Operation& operation : operations()) {
    std::vector<std::string> steps;
    {
      AnyCloud cloud;
      if constexpr (std::is_same_v<AnyCloud, S3Cloud>) cloud.fake.sums = sums;
      cloud.set_page_max(1);
      cloud.put(std::string(kTestFolder) + "a", "1");
      if (operation.there_before) cloud.put(kKey, content(operation.large));
      const auto store = cloud.open({});
      cloud.server().set_fault({});
      const auto clean = operation.run(*store);
      INFO(operation.name << ": " << (clean ? "" : clean.error().context));
      REQUIRE(clean);
      steps = cloud.server().requests();
    }
    REQUIRE_FALSE(steps.empty());
    for (int at = 0; at < static_cast<int>(steps.size()); ++at) {
      for (const FakeFault& fault :
           faults_at(at, steps[static_cast<std::size_t>(at)], std::is_same_v<AnyCloud, S3Cloud>)) {
        INFO(operation.name << ", request " << at << " " << steps[static_cast<std::size_t>(at)]
                            << ", fault " << static_cast<int>(fault.kind) << " status "
                            << fault.status << (fault.always ? " always" : ""));
        run_with_fault<AnyCloud>(operation, fault, sums);
        ++runs;
      }
    }
  }
  return runs;
}

TEST_CASE("GcsStore: a fault at any request leaves whole objects only", "[checkpoint_store]") {
  const int runs = run_all<GcsCloud>();
  CHECK(runs > 200);
  WARN(runs << " faults at requests to GCS");
}

TEST_CASE("S3Store: a fault at any request leaves whole objects only", "[checkpoint_store]") {
  const int runs = run_all<S3Cloud>();
  CHECK(runs > 200);
  WARN(runs << " faults at requests to S3");
}

TEST_CASE("S3Store: so it is without sums, by comparing content", "[checkpoint_store]") {
  CHECK(run_all<S3Cloud>(false) > 200);
}

}  // namespace
}  // namespace amdahl::checkpoint

#include "operator/kube/watch_step.hpp"

#include <catch2/catch.hpp>

namespace amdahl::kube {
namespace {
using namespace std::chrono_literals;

constexpr Monotonic kNow{1h};

WatchState watching(std::string version) {
  return {.phase = Watching{.version = version}, .high_water = version};
}
WatchState listing(std::string floor, std::string high_water = "") {
  return {.phase = StreamListing{.floor = std::move(floor)}, .high_water = std::move(high_water)};
}
template <class Phase>
Phase phase_of(const WatchStep& result) {
  REQUIRE(std::holds_alternative<Phase>(result.next.phase));
  return std::get<Phase>(result.next.phase);
}

TEST_CASE("A watch begins with a consistent streaming list", "[L1]") {
  CHECK(std::get<StreamListing>(first_state().phase).floor.empty());
}

TEST_CASE("Initial events are staged and move no version", "[L1][L5]") {
  const auto result = step(listing(""), ObjectEvent{EventKind::kAdded, "900"}, kNow);
  CHECK(result.action == WatchAction::kStage);
  CHECK(result.next.high_water.empty());
}

TEST_CASE("The bookmark at the end of the initial events publishes, and only that one",
          "[L1][L6]") {
  CHECK(step(listing(""), Bookmark{"50", false}, kNow).action == WatchAction::kContinue);
  const auto result = step(listing(""), Bookmark{"50", true}, kNow);
  CHECK(result.action == WatchAction::kPublish);
  CHECK(phase_of<Watching>(result).version == "50");
}

TEST_CASE("A server that refuses streaming lists is asked for pages", "[L2]") {
  for (const Errc code : {Errc::kInvalid, Errc::kForbidden, Errc::kNotFound}) {
    const auto result = step(listing(""), Refused{code}, kNow);
    CHECK(result.action == WatchAction::kReopen);
    CHECK(result.delay == 0ms);
    CHECK(phase_of<PagedListing>(result).floor.empty());
    CHECK_FALSE(result.next.server_streams);
  }
  // An old etcd answers 200 and then an ERROR event.
  CHECK(std::holds_alternative<PagedListing>(
      step(listing(""), ErrorEvent{Errc::kUnavailable}, kNow).next.phase));
  // A busy server is not an old one.
  CHECK(std::holds_alternative<StreamListing>(
      step(listing(""), Refused{Errc::kThrottled}, kNow).next.phase));
}

TEST_CASE("Pages are followed to the last, which publishes", "[L2]") {
  WatchState state{.phase = PagedListing{}, .server_streams = false};
  auto result = step(state, PageRead{"70", "token"}, kNow);
  CHECK(result.action == WatchAction::kContinue);
  CHECK(phase_of<PagedListing>(result).next_page == "token");
  result = step(result.next, PageRead{"70", ""}, kNow);
  CHECK(result.action == WatchAction::kPublish);
  CHECK(phase_of<Watching>(result).version == "70");
}

TEST_CASE("A list that breaks between pages starts again from its first page", "[L2][L7]") {
  const WatchState state{.phase = PagedListing{.floor = "", .next_page = "token"},
                         .server_streams = false};
  for (const WatchInput& input :
       {WatchInput{Refused{Errc::kGone}}, WatchInput{Refused{Errc::kIo}}}) {
    CHECK(phase_of<PagedListing>(step(state, input, kNow)).next_page.empty());
  }
}

TEST_CASE("After a relist nothing older than the newest version seen is asked for", "[L3]") {
  const auto result = step(watching("80"), Undecodable{}, kNow);
  CHECK(phase_of<StreamListing>(result).floor == "80");
  CHECK(result.next.high_water == "80");
}

TEST_CASE("A version that is gone leads to a consistent list, by status and by event", "[L3][L7]") {
  for (const WatchInput& input :
       {WatchInput{Refused{Errc::kGone}}, WatchInput{ErrorEvent{Errc::kGone}}}) {
    const auto result = step(watching("80"), input, kNow);
    CHECK(result.action == WatchAction::kReopen);
    CHECK(result.delay == 0ms);
    CHECK(phase_of<StreamListing>(result).floor.empty());
    CHECK(result.next.high_water == "80");
  }
  CHECK(
      phase_of<StreamListing>(step(listing("80", "80"), Refused{Errc::kGone}, kNow)).floor.empty());
}

TEST_CASE("A version that goes back drops everything and lists again", "[L4]") {
  const auto check = [](const WatchState& state, const WatchInput& input) {
    const auto result = step(state, input, kNow);
    CHECK(result.action == WatchAction::kReopen);
    CHECK(phase_of<StreamListing>(result).floor.empty());
    CHECK(result.next.high_water.empty());
  };
  check(watching("100"), ObjectEvent{EventKind::kModified, "99"});
  check(watching("100"), Bookmark{"99"});
  check(watching("100"), Audited{"99"});
  check(listing("", "100"), Bookmark{"99", true});
  // The paged list of a server that cannot stream is the same story.
  WatchState paged{.phase = PagedListing{}, .high_water = "100", .server_streams = false};
  const auto result = step(paged, PageRead{"99", ""}, kNow);
  CHECK(result.action == WatchAction::kReopen);
  CHECK(result.next.high_water.empty());
  CHECK(step(watching("100"), Audited{"100"}, kNow).action == WatchAction::kContinue);
}

TEST_CASE("Live events move the resume point and bookmarks never touch the store", "[L5][L6]") {
  auto result = step(watching("100"), ObjectEvent{EventKind::kDeleted, "101"}, kNow);
  CHECK(result.action == WatchAction::kApply);
  CHECK(phase_of<Watching>(result).version == "101");
  result = step(result.next, Bookmark{"150"}, kNow);
  CHECK(result.action == WatchAction::kAdvance);
  CHECK(phase_of<Watching>(result).version == "150");
}

TEST_CASE("Throttling and lost connections back off and keep the resume version", "[L9]") {
  WatchStep result{.next = watching("100")};
  std::vector<std::chrono::milliseconds> delays;
  for (int i = 0; i < 8; ++i) {
    result = step(result.next, Refused{i % 2 == 0 ? Errc::kThrottled : Errc::kIo}, kNow + i * 1s);
    delays.push_back(result.delay);
  }
  CHECK(delays == std::vector<std::chrono::milliseconds>{800ms, 1600ms, 3200ms, 6400ms, 12800ms,
                                                         25600ms, 30s, 30s});
  CHECK(phase_of<Watching>(result).version == "100");
  CHECK(step(result.next, Refused{Errc::kIo}, kNow + 10min).delay ==
        800ms);  // long ago is forgotten
}

TEST_CASE("A stream that dies young without an event counts as a failure", "[L9]") {
  CHECK(step(watching("1"), Ended{.lived = 5ms, .any_event = false}, kNow).delay == 800ms);
  CHECK(step(watching("1"), Ended{.lived = 5ms, .any_event = true}, kNow).delay == 0ms);
  CHECK(step(watching("1"), Ended{.lived = 1s, .any_event = false}, kNow).delay == 0ms);
}

}  // namespace
}  // namespace amdahl::kube

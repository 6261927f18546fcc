#include "runtime/launch/checkpointer.hpp"

#include <catch2/catch.hpp>

#include "runtime/launch/checkpoint_source.hpp"

namespace amdahl::launch {
namespace {

checkpoint::AgentSaved saved_at(std::int64_t step) {
  checkpoint::AgentSaved saved{.uri = "file:///ckpt", .committed = true};
  saved.stall = checkpoint::Seconds(0.25);
  saved.status.committed_step = step;
  saved.status.committed_sha256 = std::string(64, 'a');
  saved.status.committed_bytes = 1000;
  saved.status.last.upload = checkpoint::Seconds(1);
  saved.status.last.commit = checkpoint::Seconds(0.5);
  saved.status.failures = 2;
  saved.status.objects_removed = 3;
  saved.status.pause_latency = checkpoint::Seconds(4);
  return saved;
}

TEST_CASE("EngineSource tells of the newest commit, with all that the engine knows") {
  auto pair = make_channel();
  REQUIRE(pair.has_value());
  EngineSource source(std::move(pair->second));
  CHECK_FALSE(source.poll());
  for (const std::int64_t step : {10, 30, 20})
    CHECK(pair->first.send(Message::kCommitted, committed_line(saved_at(step))) ==
          Channel::Sent::kYes);
  CHECK(source.poll() == api::ReportCheckpoint{.step = 30,
                                               .path = "file:///ckpt",
                                               .bytes = 1000,
                                               .manifest_digest = "sha256:" + std::string(64, 'a'),
                                               .stall_seconds = 0.25,
                                               .upload_lag_seconds = 1.5,
                                               .predicted_pause_seconds = 4,
                                               .failed_saves = 2,
                                               .orphans_collected = 3});
  CHECK_FALSE(source.poll());
}

TEST_CASE("EngineSource tells once of a save that failed, without what is secret in it", "[D2]") {
  auto pair = make_channel();
  REQUIRE(pair.has_value());
  EngineSource source(std::move(pair->second));
  checkpoint::AgentSaved failed{.uri = "file:///ckpt"};
  failed.status.failures = 3;
  failed.status.last_error = "put https://me:word@host/b?X-Amz-Signature=secret:\n denied";
  CHECK(pair->first.send(Message::kCommitted, save_failed_line(failed)) == Channel::Sent::kYes);
  CHECK_FALSE(source.poll());
  const auto failure = source.take_failure();
  REQUIRE(failure.has_value());
  CHECK(failure->failed_saves == 3);
  CHECK_THAT(failure->message,
             Catch::StartsWith("put https://") && Catch::EndsWith("host/b denied"));
  CHECK_THAT(failure->message, !Catch::Contains("word") && !Catch::Contains("secret"));
  CHECK_FALSE(source.take_failure());
}

TEST_CASE("EngineSource passes nonsense by, and hears what was said before the end") {
  auto pair = make_channel();
  REQUIRE(pair.has_value());
  EngineSource source(std::move(pair->second));
  for (const char* text : {"", "{", R"({"type":"committed"})", R"({"type":"hello"})"})
    CHECK(pair->first.send(Message::kCommitted, text) == Channel::Sent::kYes);
  CHECK(pair->first.send(Message::kCommitted, committed_line(saved_at(5))) == Channel::Sent::kYes);
  pair->first.close();
  const auto found = source.poll();
  REQUIRE(found.has_value());
  CHECK(found->step == 5);
  CHECK_FALSE(source.poll());
  CHECK_FALSE(EngineSource(Channel(Fd())).poll());
}

}  // namespace
}  // namespace amdahl::launch

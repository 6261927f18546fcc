#include "local/kubelet/kept_logs.hpp"

#include "local/kubelet/log_file.hpp"
#include "local/kubelet/log_stream.hpp"
#include "local/kubelet/test_folder.hpp"
#include "local/kubelet/test_pods.hpp"

namespace amdahl::local {
namespace {

struct Bench {
  TestFolder folder;
  KeptLogs kept{folder.file("kept")};

  static Pod pod(const std::string& owner, std::uint32_t attempt, int rank) {
    Pod made;
    made.metadata.ns = "default";
    made.metadata.name = fmt::format("{}-{}-{}", owner, attempt, rank);
    made.metadata.uid = "pod-" + made.metadata.name;
    made.metadata.labels = PackedMap{{std::string(kAttemptLabel), std::to_string(attempt)}};
    made.metadata.owners = {{.api_version = "amdahl.dev/v1alpha1",
                             .kind = "TrainingJob",
                             .name = owner,
                             .uid = "uid-" + owner,
                             .controller = true}};
    made.spec.containers.push_back({.name = "trainer"});
    return made;
  }
  void keep(const Pod& made, const std::string& printed, const OwnerSeen& seen = {}) {
    const PodFolder from(folder.path(), made.metadata.uid);
    const auto log = LogWriter::open(from.logs("trainer"), 0);
    REQUIRE(log);
    (*log)->write(printed, at(1));
    kept.keep(made, from, seen);
  }
  std::string shown(const std::string& pod) const {
    const auto place = kept.find("default", pod, "trainer");
    if (!place) return "(none)";
    LogStream stream(LogRead{.folder = *place});
    std::string text;
    for (auto next = stream.next(); next.ready == WatchStream::Ready::kFrame; next = stream.next())
      text += next.bytes;
    return text;
  }
};

TEST_CASE("Logs of deleted pods are kept for three attempts, and forgotten with the job", "[D9]") {
  Bench bench;
  for (int attempt = 1; attempt <= 4; ++attempt)
    for (int rank = 0; rank < 2; ++rank)
      bench.keep(Bench::pod("llama", attempt, rank), fmt::format("{} {}\n", attempt, rank));
  bench.keep(Bench::pod("other", 1, 0), "other\n");
  CHECK(bench.shown("llama-1-0") == "(none)");
  CHECK(bench.shown("llama-2-1") == "2 1\n");
  CHECK(bench.shown("llama-4-0") == "4 0\n");
  CHECK_FALSE(bench.kept.find("research", "llama-4-0", "trainer"));
  CHECK(bench.kept.find("default", "llama-4-0", ""));
  const auto owners = bench.kept.owners();
  REQUIRE(owners.size() == 2);
  CHECK(owners[0].name == "llama");
  CHECK(owners[0].uid == "uid-llama");
  bench.kept.forget(owners[0]);
  CHECK(bench.shown("llama-4-0") == "(none)");
  CHECK(bench.shown("other-1-0") == "other\n");
}

TEST_CASE("A pod that claims an attempt takes no logs of other attempts away", "[D9]") {
  constexpr std::uint32_t kLast = 4'294'967'295;
  for (const bool known : {false, true}) {
    CAPTURE(known);
    Bench bench;
    OwnerSeen seen;
    for (std::uint32_t attempt = 1; attempt <= 3; ++attempt) {
      if (known) seen.attempt = attempt;
      bench.keep(Bench::pod("llama", attempt, 0), fmt::format("real {}\n", attempt), seen);
    }
    Pod other = Bench::pod("llama", kLast, 0);
    for (const char* name : {"zz", "llama-1-0", "llama-4294967295-x", "llama-4294967295-"}) {
      other.metadata.name = name;
      bench.keep(other, "forged\n", seen);
      if (std::string_view(name) != "llama-1-0") CHECK(bench.shown(name) == "(none)");
    }
    // The name of a rank that is yet to come, which only the owner's status tells from a real one.
    if (known)
      for (const std::uint32_t attempt : {4U, 5U, 6U, kLast})
        bench.keep(Bench::pod("llama", attempt, 0), "forged\n", seen);
    for (int attempt = 1; attempt <= 3; ++attempt)
      CHECK(bench.shown(fmt::format("llama-{}-0", attempt)) == fmt::format("real {}\n", attempt));
    CHECK(bench.shown(fmt::format("llama-{}-0", kLast)) == "(none)");
  }
}

TEST_CASE("The last attempt that can be counted keeps its own logs", "[D9]") {
  Bench bench;
  for (const std::uint32_t attempt : {4'294'967'292U, 4'294'967'295U})
    bench.keep(Bench::pod("llama", attempt, 0), "real\n");
  CHECK(bench.shown("llama-4294967295-0") == "real\n");
  CHECK(bench.shown("llama-4294967292-0") == "(none)");
}

TEST_CASE("A pod of an owner that is not there leaves nothing", "[D9]") {
  Bench bench;
  bench.keep(Bench::pod("llama", 1, 0), "a\n", {.gone = true});
  CHECK(bench.kept.owners().empty());
}

TEST_CASE("Of a long log the end is kept, in whole lines", "[D9]") {
  Bench bench;
  std::string printed;
  for (int line = 0; line < 20'000; ++line) printed += fmt::format("line {}\n", line);
  bench.keep(Bench::pod("llama", 1, 0), printed);
  const std::string shown = bench.shown("llama-1-0");
  CHECK(shown.size() <= kKeptTextBytesMax);
  CHECK(shown.starts_with("line "));
  CHECK(printed.ends_with(shown));
  CHECK(shown.size() > 10'000);
}

TEST_CASE("The UID of an owner leads to no other folder", "[A10]") {
  Bench bench;
  bench.keep(Bench::pod("llama", 1, 0), "mine\n");
  for (const std::string& uid : {bench.folder.file("canary"), std::string("../default/uid-llama"),
                                 std::string("../.."), std::string("."), std::string(65, 'a')}) {
    Pod thief = Bench::pod("thief", 9, 0);
    thief.metadata.owners.front().uid = uid;
    bench.keep(thief, "theirs\n");
  }
  CHECK(bench.shown("llama-1-0") == "mine\n");
  CHECK(bench.kept.owners().size() == 1);
  CHECK_FALSE(std::filesystem::exists(bench.folder.file("canary")));
}

TEST_CASE("Pods that no controller owns, and pods of no attempt, leave nothing", "[D9]") {
  Bench bench;
  Pod alone = Bench::pod("llama", 1, 0);
  alone.metadata.owners.clear();
  bench.keep(alone, "a\n");
  Pod other = Bench::pod("llama", 1, 1);
  other.metadata.labels = {};
  bench.keep(other, "b\n");
  CHECK(bench.kept.owners().empty());
  CHECK(last_records("cut off\n", 100, 100).empty());
  CHECK(last_records("", 100, 100).empty());
}

}  // namespace
}  // namespace amdahl::local

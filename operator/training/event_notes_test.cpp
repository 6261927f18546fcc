#include "operator/training/event_notes.hpp"

#include "operator/training/test_live.hpp"

namespace amdahl::training {
namespace {

using namespace std::chrono_literals;

Task<void> strangers_speak(Live& live) {
  live.submit(1);
  co_await live.clock.sleep_for(3s);
  live.server.merge(kube::kPods, live.pod_key(1, 0), {{"spec", {{"nodeName", "n"}}}});
  live.set_phase(live.pod_key(1, 0), "Pending");
  const kube::ObjectKey pod = live.pod_key(1, 0);
  Json event{{"metadata", {{"name", "lie"}, {"namespace", "elsewhere"}}},
             {"type", "Warning"},
             {"reason", "FailedMount"},
             {"note", "a lie"},
             {"regarding",
              {{"kind", "Pod"},
               {"name", pod.name},
               {"uid", live.server.find(kube::kPods, pod)["metadata"]["uid"]}}}};
  live.server.create(kube::kEvents, event);
  co_await live.clock.sleep_for(20s);
  CHECK(live.status()["pending"]["reason"] == "Starting");
  CHECK(live.program.caches().pod_events.size() == 0);
}

TEST_CASE("An event of another namespace says nothing about a pod", "[B3]") {
  Live live;
  live.run(strangers_speak(live));
}

TEST_CASE("An event of another namespace is kept apart while the pods are not known", "[A2][B3]") {
  Caches caches;  // of an operator that has just started
  const std::string_view event =
      R"({"metadata":{"name":"lie","namespace":"elsewhere","resourceVersion":"1"},)"
      R"("type":"Warning","reason":"FailedMount","note":"a lie","regarding":{"kind":"Pod",)"
      R"("namespace":"research","name":"llama-1-0","uid":"u"}})";
  const std::string padded = std::string(event) + std::string(kJsonPadding, ' ');
  REQUIRE(caches.pod_events.decode({.bytes = std::string_view(padded).substr(0, event.size())}));
  caches.pod_events.apply(kube::EventKind::kAdded);
  CHECK(caches.pod_events.size() == 1);
  const kube::ObjectKey pod{.ns = "research", .name = "llama-1-0"};
  CHECK(caches.pod_events.of(event_key(pod, "u")) == nullptr);
  CHECK(caches.pod_events.of(event_key({.ns = "elsewhere", .name = "llama-1-0"}, "u")) != nullptr);
}

Task<void> lie_about_a_node(Live& live, std::string ns, std::string reason) {
  live.submit(1);
  co_await live.clock.sleep_for(3s);
  live.run_all();
  const Json event{{"metadata", {{"name", "lie"}, {"namespace", ns}}},
                   {"type", "Warning"},
                   {"reason", reason},
                   {"note", "call 0800-EVIL"},
                   {"deprecatedLastTimestamp", format_time(live.clock.wall())},
                   {"regarding", {{"kind", "Node"}, {"name", "n"}, {"uid", "n"}}}};
  live.server.create(kube::kEvents, event);
  co_await live.clock.sleep_for(1s);
  const Json end{{"exitCode", 137},
                 {"reason", "Error"},
                 {"startedAt", format_time(live.clock.wall())},
                 {"finishedAt", format_time(live.clock.wall())}};
  const Json trainer{{"name", "trainer"}, {"state", {{"terminated", end}}}};
  live.server.merge(kube::kPods, live.pod_key(1, 0),
                    {{"status", {{"phase", "Failed"}, {"containerStatuses", {trainer}}}}},
                    "status");
  co_await live.clock.sleep_for(10s);
}

TEST_CASE("An event about a node counts in the namespace default only, and never with its words",
          "[A3][B3]") {
  struct Row {
    const char* ns;
    const char* reason;
    const char* cause;
  };
  for (const Row& row :
       {Row{"default", "SystemOOM", "NodeOutOfMemory"},
        Row{"default", "OOMKilling", "NodeOutOfMemory"}, Row{"default", "FailedMount", "Killed"},
        Row{"elsewhere", "SystemOOM", "Killed"}, Row{"research", "OOMKilling", "Killed"}}) {
    INFO(row.ns << " " << row.reason);
    Live live;
    live.run(lie_about_a_node(live, row.ns, row.reason));
    const Json status = live.status();
    CHECK(status["attempts"][0]["cause"]["class"] == row.cause);
    CHECK(status.dump().find("EVIL") == std::string::npos);
  }
}

TEST_CASE("EventNotes keeps a bounded number of objects, reasons and bytes", "[B3]") {
  EventNotes notes([](const kube::Event& event) { return std::optional(event.regarding.name); });
  const auto tell = [&](const std::string& about, const std::string& reason) {
    std::string text = Json{{"metadata", {{"name", "e"}, {"resourceVersion", "1"}}},
                            {"reason", reason},
                            {"note", std::string(5000, 'x')},
                            {"regarding", {{"name", about}}}}
                           .dump();
    const std::size_t size = text.size();
    text.append(kJsonPadding, ' ');
    REQUIRE(notes.decode({.bytes = std::string_view(text).substr(0, size)}));
    notes.apply(kube::EventKind::kAdded);
  };
  for (std::size_t i = 0; i < kNotedObjectsMax + 10; ++i) tell(std::to_string(i), "FailedMount");
  CHECK(notes.size() == kNotedObjectsMax);
  CHECK(notes.of("9") == nullptr);  // the first ones made room
  for (int i = 0; i < 10; ++i) tell("11", "Reason" + std::to_string(i));
  CHECK(notes.of("11")->size() == kNotesOfObjectMax);
  CHECK(notes.of("11")->back().message.size() == kNoteBytesMax);
}

}  // namespace
}  // namespace amdahl::training

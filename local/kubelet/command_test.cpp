#include "local/kubelet/command.hpp"

#include "local/kubelet/expand.hpp"
#include "local/kubelet/test_pods.hpp"
#include "local/kubelet/volume_files.hpp"

namespace amdahl::local {
namespace {

TEST_CASE("A command whose variables double each other is refused before it takes memory", "[A1]") {
  Pod pod;
  Container container{.name = "c", .command = {"true"}};
  for (int i = 0; i < 40; ++i)
    container.env.push_back(
        {.name = fmt::format("A{}", i),
         .value = i == 0 ? std::string(64, 'x') : fmt::format("$(A{0})$(A{0})", i - 1)});
  const auto made = make_command(pod, container, {}, {});
  REQUIRE_FALSE(made);
  CHECK(made.error().code == Errc::kInvalid);
  CHECK(made.error().context.contains("env A12: expands to more than 128 KiB"));
  container.env.resize(11);  // 64 KiB
  for (int i = 0; i < 40; ++i) container.args.push_back("$(A10)");
  const auto large = make_command(pod, container, {}, {});
  REQUIRE_FALSE(large);
  CHECK(large.error().context.contains("arguments and variables are larger than 2048 KiB"));
  container.args.resize(20);
  CHECK(make_command(pod, container, {}, {}));
}

TEST_CASE("expand() follows Kubernetes' rules for references and escapes") {
  struct Row {
    const char* text;
    const char* expanded;
  };
  const auto find = [](std::string_view name) -> std::optional<std::string_view> {
    if (name == "A") return "one";
    if (name == "EMPTY") return "";
    return std::nullopt;
  };
  for (const Row& row : std::vector<Row>{{"plain", "plain"},
                                         {"$(A)", "one"},
                                         {"x$(A)y$(A)z", "xoneyonez"},
                                         {"$(EMPTY)", ""},
                                         {"$(NOT)", "$(NOT)"},
                                         {"$$(A)", "$(A)"},
                                         {"$$$(A)", "$one"},
                                         {"$$$$(A)", "$$(A)"},
                                         {"$A $", "$A $"},
                                         {"$(A", "$(A"},
                                         {"$()", "$()"},
                                         {"$", "$"},
                                         {"$$", "$"},
                                         {"cost: 5$ $(A)", "cost: 5$ one"},
                                         {"", ""}}) {
    INFO(row.text);
    CHECK(expand(row.text, find) == row.expanded);
  }
}

const CommandFacts kFacts{.address = "127.64.0.7",
                          .node = {.cpu_milli = 4000, .memory_bytes = 1 << 30},
                          .before = {{"PATH", "/bin"}, {"HOME", "/h"}},
                          .after = {{"CUDA_VISIBLE_DEVICES", "0,1"}},
                          .directory = "/work"};

std::string value(const Command& command, const std::string& name) {
  for (const auto& [key, text] : command.variables)
    if (key == name) return text;
  return "(unset)";
}

TEST_CASE("make_command() builds variables in order, the last definition of a name counts") {
  const Pod pod =
      pod_of(R"json({"nodeName":"n1","serviceAccountName":"sa","containers":[{"name":"c",
    "command":["run","$(ALL)"],"args":["$(GREETING)","$$(GREETING)","$(NOBODY)"],
    "envFrom":[{"prefix":"M_","configMapRef":{"name":"m"}},{"secretRef":{"name":"s"}},
               {"configMapRef":{"name":"none","optional":true}}],
    "env":[{"name":"GREETING","value":"hello $(M_who)"},{"name":"ALL","value":"$(GREETING)!"},
           {"name":"HOME","value":"/else"},{"name":"LATE","value":"$(LATER)"},
           {"name":"LATER","value":"x"},{"name":"CUDA_VISIBLE_DEVICES","value":"7"}]}]
})json");
  const Sources sources{.config_maps = {{"m", {{"who", "world"}}}},
                        .secrets = {{"s", {{"key", "k"}}}}};
  const auto command = make_command(pod, pod.spec.containers[0], sources, kFacts);
  REQUIRE(command);
  CHECK(command->arguments ==
        std::vector<std::string>{"run", "hello world!", "hello world", "$(GREETING)", "$(NOBODY)"});
  CHECK(value(*command, "HOME") == "/else");
  CHECK(value(*command, "PATH") == "/bin");
  CHECK(value(*command, "key") == "k");
  CHECK(value(*command, "LATE") == "$(LATER)");
  CHECK(value(*command, "CUDA_VISIBLE_DEVICES") == "0,1");
  CHECK(command->directory == "/work");
}

TEST_CASE("make_command() tells a container about its pod") {
  struct Row {
    const char* from;
    const char* value;
  };
  for (const Row& row : std::vector<Row>{
           {R"({"fieldRef":{"fieldPath":"metadata.name"}})", "p"},
           {R"({"fieldRef":{"fieldPath":"metadata.namespace"}})", "ns"},
           {R"({"fieldRef":{"fieldPath":"metadata.uid"}})", "u1"},
           {R"({"fieldRef":{"fieldPath":"metadata.labels['app']"}})", "a"},
           {R"({"fieldRef":{"fieldPath":"metadata.labels['none']"}})", ""},
           {R"({"fieldRef":{"fieldPath":"metadata.annotations['note']"}})", "n"},
           {R"({"fieldRef":{"fieldPath":"metadata.labels"}})", "app=\"a\"\ntier=\"x\\\"y\""},
           {R"({"fieldRef":{"fieldPath":"spec.nodeName"}})", "n1"},
           {R"({"fieldRef":{"fieldPath":"spec.serviceAccountName"}})", "default"},
           {R"({"fieldRef":{"fieldPath":"status.podIP"}})", "127.64.0.7"},
           {R"({"fieldRef":{"fieldPath":"status.podIPs"}})", "127.64.0.7"},
           {R"({"fieldRef":{"fieldPath":"status.hostIP"}})", "127.0.0.1"},
           {R"({"resourceFieldRef":{"resource":"limits.cpu"}})", "2"},
           {R"({"resourceFieldRef":{"resource":"limits.cpu","divisor":"1m"}})", "1500"},
           {R"({"resourceFieldRef":{"resource":"requests.cpu"}})", "0"},
           {R"({"resourceFieldRef":{"resource":"limits.memory"}})", "1073741824"},
           {R"({"resourceFieldRef":{"resource":"requests.memory","divisor":"1Mi"}})", "64"},
           {R"({"resourceFieldRef":{"resource":"limits.memory","containerName":"d"}})", "5"}}) {
    INFO(row.from);
    const Pod pod = pod_of(
        R"({"nodeName":"n1","containers":[{"name":"c","command":["x"],
        "resources":{"limits":{"cpu":"1500m"},"requests":{"memory":"64Mi"}},
        "env":[{"name":"V","valueFrom":)" +
        std::string(row.from) + R"(}]},{"name":"d","resources":{"limits":{"memory":"5"}}}]})");
    const auto command = make_command(pod, pod.spec.containers[0], {}, kFacts);
    INFO((command ? "" : command.error().context));
    REQUIRE(command);
    CHECK(value(*command, "V") == row.value);
  }
}

TEST_CASE("make_command() names what is missing") {
  struct Row {
    const char* container;
    Errc code;
    const char* message;
  };
  const Sources sources{.config_maps = {{"m", {{"a", "1"}}}}};
  for (
      const Row& row : std::vector<Row>{
          {R"("args":["x"])", Errc::kTerminal, "no command"},
          {R"("command":["x"],"envFrom":[{"configMapRef":{"name":"gone"}}])", Errc::kInvalid,
           "configmap \"gone\" not found"},
          {R"("command":["x"],"envFrom":[{"secretRef":{"name":"gone"}}])", Errc::kInvalid,
           "secret \"gone\" not found"},
          {R"("command":["x"],"env":[{"name":"V","valueFrom":{"configMapKeyRef":{"name":"m","key":"b"}}}])",
           Errc::kInvalid, "env V: couldn't find key b in ConfigMap ns/m"},
          {R"("command":["x"],"env":[{"name":"V","valueFrom":{"secretKeyRef":{"name":"s","key":"b"}}}])",
           Errc::kInvalid, "secret \"s\" not found"},
          {R"("command":["x"],"env":[{"name":"V","valueFrom":{"fieldRef":{"fieldPath":"spec.magic"}}}])",
           Errc::kInvalid, "spec.magic"},
          {R"("command":["x"],"env":[{"name":"V","valueFrom":{"resourceFieldRef":{"resource":"cpu"}}}])",
           Errc::kInvalid, "no such resource: cpu"}}) {
    INFO(row.container);
    const Pod pod = pod_of(R"({"containers":[{"name":"c",)" + std::string(row.container) + "}]}");
    const auto command = make_command(pod, pod.spec.containers[0], sources, kFacts);
    REQUIRE_FALSE(command);
    CHECK(command.error().code == row.code);
    CHECK(command.error().context.contains(row.message));
  }
}

TEST_CASE("make_command() leaves out optional variables that nobody has") {
  const Pod pod = pod_of(R"({"containers":[{"name":"c","command":["x"],"env":[
    {"name":"V","valueFrom":{"configMapKeyRef":{"name":"m","key":"b","optional":true}}},
    {"name":"W","valueFrom":{"secretKeyRef":{"name":"s","key":"b","optional":true}}}]}]})");
  const auto command = make_command(pod, pod.spec.containers[0], {}, kFacts);
  REQUIRE(command);
  CHECK(value(*command, "V") == "(unset)");
  CHECK(value(*command, "W") == "(unset)");
}

TEST_CASE("referenced() finds every config map, secret and token of a pod") {
  const Pod pod =
      pod_of(R"({"initContainers":[{"name":"i","envFrom":[{"secretRef":{"name":"s1"}}]}],
    "containers":[{"name":"c","env":[{"name":"V","valueFrom":{"configMapKeyRef":{"name":"m1","key":"k"}}}]}],
    "volumes":[{"name":"a","configMap":{"name":"m2"}},{"name":"b","secret":{"secretName":"s2"}},
      {"name":"c","projected":{"sources":[{"configMap":{"name":"m3"}},{"secret":{"name":"s3"}},
        {"serviceAccountToken":{"path":"t","audience":"vault","expirationSeconds":700}}]}}]})");
  const SourceNames names = referenced(pod);
  CHECK(names.config_maps == std::set<std::string>{"m1", "m2", "m3"});
  CHECK(names.secrets == std::set<std::string>{"s1", "s2", "s3"});
  CHECK(names.token_seconds == std::map<std::string, std::int64_t>{{"vault", 700}});
}

TEST_CASE("volume_files() lays out maps, downward files and projections") {
  const Pod pod = pod_of(R"({"containers":[],"volumes":[
    {"name":"all","configMap":{"name":"m","defaultMode":288}},
    {"name":"some","secret":{"secretName":"s","items":[{"key":"k","path":"d/e","mode":256}]}},
    {"name":"down","downwardAPI":{"items":[{"path":"labels","fieldRef":{"fieldPath":"metadata.labels['app']"}}]}},
    {"name":"mix","projected":{"sources":[{"configMap":{"name":"m","items":[{"key":"a","path":"a"}]}},
      {"serviceAccountToken":{"path":"token"}}]}},
    {"name":"empty","emptyDir":{}}]})");
  const Sources sources{.config_maps = {{"m", {{"a", "1"}, {"b", "2"}}}},
                        .secrets = {{"s", {{"k", "v"}}}},
                        .tokens = {{"", "tok"}}};
  const auto files = [&](std::size_t index) {
    const auto made = volume_files(pod, pod.spec.volumes[index], sources, kFacts);
    INFO((made ? "" : made.error().context));
    REQUIRE(made);
    return *made;
  };
  CHECK(files(0) == VolumeFiles{{"a", {"1", 0440}}, {"b", {"2", 0440}}});
  CHECK(files(1) == VolumeFiles{{"d/e", {"v", 0400}}});
  CHECK(files(2) == VolumeFiles{{"labels", {"a", 0644}}});
  CHECK(files(3) == VolumeFiles{{"a", {"1", 0644}}, {"token", {"tok", 0600}}});
  CHECK(files(4).empty());
}

TEST_CASE("volume_files() refuses what is missing, unknown or leaves the volume") {
  struct Row {
    const char* volume;
    const char* message;
  };
  const Sources sources{.config_maps = {{"m", {{"a", "1"}}}}};
  for (const Row& row : std::vector<Row>{
           {R"("configMap":{"name":"gone"})", "volume \"v\": configmap \"gone\" not found"},
           {R"("secret":{"secretName":"gone"})", "volume \"v\": secret \"gone\" not found"},
           {R"("configMap":{"name":"m","items":[{"key":"z","path":"z"}]})", "couldn't find key z"},
           {R"("configMap":{"name":"m","items":[{"key":"a","path":"../z"}]})", "leaves the volume"},
           {R"("configMap":{"name":"m","items":[{"key":"a","path":"/z"}]})", "leaves the volume"},
           {R"("nfs":{"server":"x"})", "not supported here"}}) {
    INFO(row.volume);
    const Pod pod =
        pod_of(R"({"containers":[],"volumes":[{"name":"v",)" + std::string(row.volume) + "}]}");
    const auto files = volume_files(pod, pod.spec.volumes[0], sources, kFacts);
    REQUIRE_FALSE(files);
    CHECK(files.error().context.contains(row.message));
  }
}

}  // namespace
}  // namespace amdahl::local

#include "operator/training/pod_template.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <nlohmann/json.hpp>

#include "operator/training/test_world.hpp"

namespace amdahl::training {
namespace {

using Env = std::map<std::string, std::string>;

// As entries, or as arguments of the launcher.
Env env_of(const Json& container) {
  Env env;
  for (const std::string word : container.value("command", Json::array())) {
    if (word == "--") break;
    if (!word.starts_with("--env=")) continue;
    const auto equals = word.find('=', 6);
    CHECK(!env.contains(word.substr(6, equals - 6)));
    env[word.substr(6, equals - 6)] = word.substr(equals + 1);
  }
  for (const Json& entry : container["env"]) {
    const std::string name = entry["name"];
    CHECK(!env.contains(name));
    env[name] = entry.contains("value")
                    ? entry["value"].get<std::string>()
                    : entry["valueFrom"]["fieldRef"]["fieldPath"].get<std::string>();
  }
  return env;
}

TrainingJob a_job() {
  World world;
  TrainingJob job = *world.job;
  job.metadata.name = "llama";
  job.metadata.uid = "u-1";
  job.spec.nodes = 2;
  return job;
}

TEST_CASE("A pod of a gang carries its attempt in name, labels and rendezvous id") {
  const Json pod = pod_of(a_job(), {.attempt = 3, .index = 1, .nodes = 2}, {});
  CHECK(pod["metadata"]["name"] == "llama-3-1");
  CHECK(pod["metadata"]["finalizers"] == Json::array({"amdahl.dev/training-job"}));
  CHECK(pod["metadata"]["labels"]["amdahl.dev/attempt"] == "3");
  CHECK(pod["metadata"]["labels"]["amdahl.dev/rank"] == "1");
  CHECK(pod["metadata"]["labels"]["amdahl.dev/gpus"] == "8");
  CHECK(pod["metadata"]["annotations"]["scheduling.k8s.io/group-name"] == "llama-gang");
  const Json& spec = pod["spec"];
  CHECK(spec["hostname"] == "llama-3-1");
  CHECK(spec["subdomain"] == "llama-gang");
  CHECK(spec["schedulerName"] == "volcano");
  CHECK(spec["restartPolicy"] == "Never");
  CHECK(spec["automountServiceAccountToken"] == false);
  CHECK(spec["terminationGracePeriodSeconds"] == kGraceSecondsDefault);
  const Env env = env_of(spec["containers"][0]);
  CHECK(env.at("PET_NNODES") == "2");
  CHECK(env.at("PET_NPROC_PER_NODE") == "8");
  CHECK(env.at("PET_NODE_RANK") == "1");
  CHECK(env.at("PET_RDZV_ID") == "u-1-3");
  CHECK(env.at("PET_MASTER_ADDR") == "llama-3-0.llama-gang");
  CHECK(env.at("MASTER_PORT") == "29500");
  CHECK(env.at("AMDAHL_HOST_PATTERN") == "llama-3-{}.llama-gang");
  CHECK(env.at("AMDAHL_POD_UID") == "metadata.uid");
  CHECK(!env.contains("AMDAHL_RESUME_STEP"));
  CHECK(spec["containers"][0]["command"] == Json::array({"python", "train.py"}));
}

TEST_CASE("Where pods share ports every attempt has its own") {
  const auto port = [](std::uint32_t attempt, std::uint32_t index) {
    const Json pod =
        pod_of(a_job(), {.attempt = attempt, .index = index, .nodes = 2}, {.shared_ports = true});
    const Env env = env_of(pod["spec"]["containers"][0]);
    CHECK(env.at("MASTER_PORT") == env.at("PET_MASTER_PORT"));
    return env.at("MASTER_PORT");
  };
  CHECK(port(1, 0) == port(1, 1));
  CHECK(port(1, 0) != port(2, 0));
}

TEST_CASE("What the user wrote into the gang's places does not count") {
  TrainingJob job = a_job();
  job.spec.pod_template["metadata"]["labels"] = {{"amdahl.dev/rank", "9"}, {"team", "a"}};
  Json& trainer = job.spec.pod_template["spec"]["containers"][0];
  trainer["env"] = {{{"name", "PET_NODE_RANK"}, {"value", "9"}},
                    {{"name", "MINE"}, {"value", "1"}}};
  for (const char* launch : {"", "/opt/amdahl-launch"}) {
    const Json pod = pod_of(job, {.index = 1, .nodes = 2}, {.launch_path = launch});
    CHECK(pod["metadata"]["labels"]["amdahl.dev/rank"] == "1");
    CHECK(pod["metadata"]["labels"]["team"] == "a");
    const Env env = env_of(pod["spec"]["containers"][0]);
    CHECK(env.at("PET_NODE_RANK") == "1");
    CHECK(env.at("MINE") == "1");
  }
}

TEST_CASE("amdahl-launch runs the trainer's command, from an image or from the machine") {
  TrainingJob job = a_job();
  job.spec.pod_template["spec"]["containers"][0]["args"] = {"--lr", "1"};
  const Json local = pod_of(job, {}, {.launch_path = "/opt/amdahl-launch"});
  const Json& trainer = local["spec"]["containers"][0];
  const std::vector<std::string> words = trainer["command"];
  CHECK(words[0] == "/opt/amdahl-launch");
  CHECK(words[1] == "run");
  const auto ends = std::ranges::find(words, "--");
  CHECK(std::vector(ends, words.end()) ==
        std::vector<std::string>{"--", "python", "train.py", "--lr", "1"});
  CHECK(!trainer.contains("args"));
  // All but what only the node knows are arguments: entries are dear (ADR 0022).
  CHECK(trainer["env"].size() == 1);
  CHECK(env_of(trainer).at("AMDAHL_POD_UID") == "metadata.uid");
  CHECK(local["metadata"]["name"] == env_of(trainer).at("AMDAHL_POD"));
  CHECK(!local["spec"].contains("initContainers"));

  const Json pod = pod_of(job, {}, {.launch_image = "amdahl/launch:1"});
  const Json& init = pod["spec"]["initContainers"][0];
  CHECK(init["image"] == "amdahl/launch:1");
  CHECK(init["command"] == Json::array({"/amdahl-launch", "install", "/amdahl"}));
  CHECK(pod["spec"]["containers"][0]["command"][0] == "/amdahl/amdahl-launch");
  CHECK(init["terminationMessagePolicy"] == "FallbackToLogsOnError");
  CHECK(init["volumeMounts"][0]["name"] == pod["spec"]["volumes"][0]["name"]);
}

TEST_CASE("A launcher that shall serve metrics learns the address of its pod", "[B9]") {
  TrainingJob job = a_job();
  const Json without = pod_of(job, {}, {.launch_path = "/opt/amdahl-launch"});
  CHECK(!env_of(without["spec"]["containers"][0]).contains("AMDAHL_POD_ADDRESS"));
  job.spec.pod_template["spec"]["containers"][0]["env"] = {
      {{"name", "AMDAHL_METRICS_PORT"}, {"value", "9400"}},
      {{"name", "AMDAHL_POD_ADDRESS"}, {"value", "0.0.0.0"}}};
  const Json pod = pod_of(job, {}, {.launch_path = "/opt/amdahl-launch"});
  const Env env = env_of(pod["spec"]["containers"][0]);
  CHECK(env.at("AMDAHL_METRICS_PORT") == "9400");
  CHECK(env.at("AMDAHL_POD_ADDRESS") == "status.podIP");
}

TEST_CASE("A launcher is told to count steps by hooks unless they are off", "[D8]") {
  TrainingJob job = a_job();
  const auto told = [&](const PodOptions& options) {
    const Json pod = pod_of(job, {}, options);
    const std::string text = pod["spec"]["containers"][0].dump();
    return text.contains("AMDAHL_HOOKS");
  };
  CHECK(told({.launch_path = "/opt/amdahl-launch"}));
  CHECK(told({.launch_image = "launch:1"}));
  CHECK_FALSE(told({}));  // nobody would hear them
  job.spec.hooks = api::Hooks::kOff;
  CHECK_FALSE(told({.launch_path = "/opt/amdahl-launch"}));
}

TEST_CASE("Ranks get a token of their own to report with") {
  const Json pod = pod_of(a_job(), {}, {.report_url = "https://r:1", .report_ca = "amdahl-ca"});
  const Json& sources = pod["spec"]["volumes"][0]["projected"]["sources"];
  CHECK(sources[0]["serviceAccountToken"]["audience"] == "amdahl.dev/report");
  CHECK(sources[1]["configMap"]["name"] == "amdahl-ca");
  const Env env = env_of(pod["spec"]["containers"][0]);
  CHECK(env.at("AMDAHL_REPORT_URL") == "https://r:1/v1/report");
  CHECK(env.at("KUBEFLOW_TRAINER_SERVER_URL") == "https://r:1/v1/progress");
  CHECK(env.at("KUBEFLOW_TRAINER_SERVER_TOKEN") == env.at("AMDAHL_REPORT_TOKEN"));
}

TEST_CASE("A trainer is told the digest of its image, if the template pins it") {
  TrainingJob job = a_job();
  const Json tagged = pod_of(job, {}, {});
  CHECK(!env_of(tagged["spec"]["containers"][0]).contains("AMDAHL_IMAGE_DIGEST"));
  job.spec.pod_template["spec"]["containers"][0]["image"] = "registry.example/a:1@sha256:abc";
  const Json pinned = pod_of(job, {}, {});
  CHECK(env_of(pinned["spec"]["containers"][0]).at("AMDAHL_IMAGE_DIGEST") == "sha256:abc");
}

TEST_CASE("The next attempt is told from which step it goes on") {
  const Json pod = pod_of(a_job(), {.attempt = 2, .resume_step = 120}, {});
  CHECK(env_of(pod["spec"]["containers"][0]).at("AMDAHL_RESUME_STEP") == "120");
}

TEST_CASE("The next attempt would rather not run on a node that broke the one before") {
  TrainingJob job = a_job();
  const auto broke = [&](api::CauseClass cause_class, std::string node) {
    api::AttemptStatus attempt{.number = static_cast<std::int32_t>(job.status.attempts.size()) + 1};
    attempt.cause = api::Cause{.cause_class = cause_class, .node = std::move(node)};
    job.status.attempts.push_back(std::move(attempt));
  };
  broke(api::CauseClass::kUserException, "innocent");
  CHECK_FALSE(pod_of(job, {}, {})["spec"].contains("affinity"));
  broke(api::CauseClass::kGpuFault, "bad");
  broke(api::CauseClass::kNodeLost, "gone");
  broke(api::CauseClass::kGpuFault, "bad");
  job.spec.pod_template["spec"]["affinity"]["podAffinity"] = {{"mine", 1}};
  const Json affinity = pod_of(job, {}, {})["spec"]["affinity"];
  CHECK(affinity["podAffinity"]["mine"] == 1);
  const Json& wish = affinity["nodeAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"];
  REQUIRE(wish.size() == 1);
  const Json& fields = wish[0]["preference"]["matchFields"];
  REQUIRE(fields.size() == 2);
  CHECK(fields[0] == Json{{"key", "metadata.name"}, {"operator", "NotIn"}, {"values", {"bad"}}});
  CHECK(fields[1]["values"][0] == "gone");
}

TEST_CASE("Processes per node follow the GPUs of the trainer, or are said") {
  TrainingJob job = a_job();
  CHECK(processes_per_node(job.spec) == 8);
  job.spec.pod_template["spec"]["containers"][0].erase("resources");
  CHECK(processes_per_node(job.spec) == 1);
  job.spec.processes_per_node = 4;
  CHECK(processes_per_node(job.spec) == 4);
}

}  // namespace
}  // namespace amdahl::training

// Whole TrainingJobs on the embedded API server: their names, the examples, and what our own types
// write and read.
#include <set>

#include "operator/api/names.hpp"
#include "operator/api/training_job.hpp"
#include "operator/kube/types.hpp"
#include "tests/api/job_server.hpp"

namespace amdahl::tests {
namespace {

TEST_CASE("TrainingJob: a name becomes the DNS names of the ranks, and is checked for it") {
  JobServer server;
  const Json rows = rows_file();
  const auto post = [&](const std::string& name) {
    Json job = rows["job"];
    job["metadata"]["name"] = name;
    return server.cluster.post(JobServer::kJobs, job.dump());
  };
  for (const Json& name : rows["names"]["accepted"]) CHECK(post(name).status == 201);
  for (const auto& [name, message] : rows["names"]["refused"].items()) {
    const auto got = post(name);
    CHECK(got.status == 422);
    CHECK(JobServer::message(got).contains(message.get<std::string>()));
  }
}

TEST_CASE("TrainingJob: the examples are valid and use every runtime") {
  JobServer server;
  std::set<std::string> runtimes;
  for (const char* name : {"torchrun", "deepspeed", "python"}) {
    const Json job = yaml_file(fmt::format("examples/trainingjob-{}.yaml", name));
    const auto got =
        server.cluster.post(std::string(JobServer::kJobs) + "?fieldValidation=Strict", job.dump());
    INFO(got.text);
    REQUIRE(got.status == 201);
    CHECK(our_fault(got.body["spec"]) == "");
    CHECK(got.body["spec"]["template"] == job["spec"]["template"]);
    runtimes.insert(got.body["spec"]["runtime"].get<std::string>());
  }
  CHECK(runtimes.size() == enum_names(api::Runtime{}).size());
}

// What a folder with a Kubernetes client makes of it.
struct TrainingJob : api::TrainingJobOf<kube::ObjectMeta> {
  static const kube::Resource& resource() {
    static const kube::Resource jobs{.group = std::string(api::kGroup),
                                     .version = std::string(api::kVersion),
                                     .plural = std::string(api::kTrainingJobPlural),
                                     .kind = std::string(api::kTrainingJobKind)};
    return jobs;
  }
};
static_assert(kube::Kind<TrainingJob>);

TEST_CASE("TrainingJob: what our client writes is what the server keeps") {
  JobServer server;
  TrainingJob job;
  job.metadata.name = "typed";
  job.spec.scheduling.network_topology = api::NetworkTopology{};
  job.spec.checkpoint.uri = "s3://bucket";
  const Json made = server.create(kube::to_manifest(job));
  const auto read = decode<TrainingJob>(made.dump());
  REQUIRE(read);
  CHECK(read->spec == job.spec);
  CHECK(read->metadata.uid == made["metadata"]["uid"].get<std::string>());
}

TEST_CASE("TrainingJob: a job with nothing optional gets the defaults of our own reader") {
  JobServer server;
  const Json made = server.create(
      {{"apiVersion", "amdahl.dev/v1alpha1"},
       {"kind", "TrainingJob"},
       {"metadata", {{"name", "small"}}},
       {"spec", {{"runtime", "Torchrun"}, {"nodes", 1}, {"template", Json::object()}}}});
  CHECK(made["spec"] == encode(api::TrainingJobSpec{}));
}

}  // namespace
}  // namespace amdahl::tests

// For the tests of the writer: a server with one job, and a writer that works for it.
#pragma once

#include <boost/asio/io_context.hpp>
#include <string>

#include "base/task_group.hpp"
#include "operator/controller/writer.hpp"
#include "operator/kube/types.hpp"
#include "tests/kit/memory_server.hpp"

namespace amdahl::controller {

inline const kube::Resource kJobs{
    .group = "amdahl.dev", .version = "v1alpha1", .plural = "trainingjobs", .kind = "TrainingJob"};
inline const ObjectKey kJob{.ns = "research", .name = "llama"};
inline const ObjectKey kPod{.ns = "research", .name = "llama-1-0"};

inline Json object_named(const ObjectKey& key) {
  return {{"metadata", {{"name", key.name}, {"namespace", key.ns}}}, {"spec", {{"image", "a"}}}};
}

struct WriterBench {
  boost::asio::io_context io;
  ManualClock clock;
  testkit::MemoryServer server{io.get_executor(), clock};
  testkit::MemoryTransport wire{server, clock};
  kube::Client client{wire, clock, Rng(1)};
  WriteGate gate;
  Writer writer{client, gate, kJob, {.epoch = {3}}};
  OwnerObject owner;

  WriterBench() {
    const Json job = server.create(kJobs, object_named(kJob));
    owner = {.resource = kJobs, .key = kJob, .uid = job["metadata"]["uid"]};
  }
  template <class T>
  T run(Task<T> task) {
    return run_simulated(io, clock, std::move(task));
  }
  GateVerdict gate_for_pods(std::string version) {
    return gate.check(
        kJob, [&](std::string_view) { return std::optional(version); }, clock.monotonic());
  }
  kube::ObjectMeta meta(const kube::Resource& resource, const ObjectKey& key) const {
    const Json object = server.find(resource, key)["metadata"];
    kube::ObjectMeta result;
    result.name = object["name"];
    result.ns = object["namespace"];
    result.uid = object["uid"];
    result.version = object["resourceVersion"];
    result.finalizers = object.value("finalizers", std::vector<std::string>());
    if (object.contains("deletionTimestamp")) result.deleted = WallTime{};
    const Json annotations = object.value("annotations", Json::object());
    if (annotations.contains(std::string(kEpochKey)))
      result.annotations = {
          {kEpochKey, annotations[std::string(kEpochKey)].get_ref<const std::string&>()}};
    return result;
  }
};

}  // namespace amdahl::controller

// The embedded API server in this process with crds/trainingjobs.yaml, and the rows of
// spec_fields.json, which the test on a real API server reads too.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "base/json_decode.hpp"
#include "base/json_encode.hpp"
#include "base/validate.hpp"
#include "local/apiserver/rules/test_cluster.hpp"
#include "operator/api/training_job_spec.hpp"
#include "operator/kube/yaml_bounded.hpp"

namespace amdahl::tests {

inline std::string file_text(const std::string& path) {
  const std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  INFO(path);
  REQUIRE(file.good());
  return text.str();
}

inline Json yaml_file(const std::string& path) {
  const auto document = kube::parse_yaml(file_text(path), path);
  if (!document) FAIL(document.error().context);
  return kube::to_json(*document);
}

inline Json rows_file() {
  return Json::parse(file_text("tests/api/spec_fields.json"));
}

// "/spec/checkpoint/uri" for "checkpoint.uri".
inline std::string pointer_of(std::string path) {
  std::ranges::replace(path, '.', '/');
  return "/spec/" + path;
}

// What our own reader and checks say of a spec; empty when they take it.
inline std::string our_fault(const Json& spec) {
  const auto read = decode<api::TrainingJobSpec>(spec.dump());
  if (!read) return read.error().context;
  const auto valid = validate(*read);
  if (!valid) return valid.error().context;
  const auto again = decode<api::TrainingJobSpec>(encode(*read).dump());
  return again && *again == *read ? "" : "is not read back as it was written";
}

class JobServer {
 public:
  using Got = local::TestCluster::Got;
  static constexpr const char* kCrds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  static constexpr const char* kJobs = "/apis/amdahl.dev/v1alpha1/namespaces/default/trainingjobs";

  JobServer() { cluster.create(kCrds, yaml_file("crds/trainingjobs.yaml").dump()); }

  Json create(const Json& job) { return cluster.create(kJobs, job.dump()); }
  Got patch(const std::string& name, const Json& operations, const std::string& part = "") {
    Got got = cluster.patch(std::string(kJobs) + "/" + name + part, "application/json-patch+json",
                            operations.dump());
    if (got.status != 200) refusals.push_back(message(got));
    return got;
  }
  Json get(const std::string& name) { return cluster.get(std::string(kJobs) + "/" + name).body; }
  static std::string message(const Got& got) { return got.body.value("message", got.text); }

  bool refused_with(std::string_view words) const {
    return std::ranges::any_of(refusals,
                               [&](const std::string& text) { return text.contains(words); });
  }

  local::TestCluster cluster;
  std::vector<std::string> refusals;  // the messages of all refused patches
};

}  // namespace amdahl::tests

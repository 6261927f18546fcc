// What is generated from the tables of TrainingJob: the CustomResourceDefinition and its page.
//
// Pure. tools/crds writes them to crds/ and docs/reference (`make crds`); the embedded cluster and
// tests may use the object as it is. Failure: none.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace amdahl::api {

// apiextensions.k8s.io/v1, ready to be created.
nlohmann::json training_job_crd();

// Markdown: every field, rule, condition, phase and cause.
std::string training_job_page();

}  // namespace amdahl::api

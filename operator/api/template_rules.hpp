// What the spec of a job may not ask of its pods: one table for the operator and for the admission
// policy in deploy/, which is generated from it.
//
// The rows are the "baseline" of the Pod Security Standards and what we refuse beyond it: pods of a
// job must not reach into their node, pretend to belong to the cluster, or choose their node past
// the scheduler. Which service accounts a template may name depends on the installation and is
// checked by the operator alone. Pure. Failure: none.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/fields.hpp"

namespace amdahl::api {

struct TrainingJobSpec;

enum class Refuse : std::uint8_t {
  kAnything,   // whatever it says
  kTrue,       // the flag set
  kNotZero,    // any number but 0
  kNotIn,      // anything but one of these texts
  kIn,         // one of these texts
  kWithout,    // an object in which this member is absent or empty
  kUnconfined  // annotations that switch AppArmor off
};

struct TemplateRule {
  std::string_view scope = {};  // from spec; joined with the path it is what each_at() reads
  std::string_view path = {};
  Refuse refuse = Refuse::kAnything;
  std::span<const std::string_view> values = {};
  std::string_view why = {};  // follows the place and a colon
};
std::span<const TemplateRule> template_rules();

// "spec.template.spec.hostNetwork: ..." of the first row that refuses; nullopt: none does.
std::optional<std::string> template_refusal(const TrainingJobSpec& spec);

// The row in CEL: true where it refuses nothing. `root` is an expression for the spec, of any type.
std::string rule_in_cel(const TemplateRule& rule, std::string_view root);

// ValidatingAdmissionPolicy and its binding, as deploy/policy.yaml has them.
Json admission_policy();
Json admission_policy_binding();

}  // namespace amdahl::api

// Cells of deployments, jobs and bindings; see table.hpp.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "local/apiserver/kinds/json_access.hpp"
#include "local/apiserver/kinds/table.hpp"
#include "local/apiserver/kinds/table_kinds.hpp"

namespace amdahl::local {

namespace {

std::string age(const Json& object, WallTime now) {
  return human_age(text_at(object, {"metadata", "creationTimestamp"}), now);
}

std::string joined(const Json& list, std::string_view name) {
  std::string text;
  for (const Json& item : list) {
    if (!text.empty()) text += ',';
    text += text_at(item, {name});
  }
  return text;
}

const Json& containers_of(const Json& object) {
  return list_at(object, {"spec", "template", "spec", "containers"});
}

std::int64_t status_number(const Json& object, std::string_view name) {
  return number_at(object, {"status", name}).value_or(0);
}

std::string expression_text(const Json& expression) {
  std::string key = text_at(expression, {"key"});
  const std::string op = text_at(expression, {"operator"});
  if (op == "Exists") return key;
  if (op == "DoesNotExist") return "!" + key;
  std::string values;
  for (const Json& value : list_at(expression, {"values"})) {
    if (!values.empty()) values += ',';
    if (value.is_string()) values += value.get_ref<const std::string&>();
  }
  return key + (op == "In" ? " in (" : " notin (") + values + ")";
}

bool job_is(const Json& job, std::string_view type) {
  return std::ranges::any_of(list_at(job, {"status", "conditions"}), [&](const Json& condition) {
    return text_at(condition, {"type"}) == type && text_at(condition, {"status"}) == "True";
  });
}

std::string job_status(const Json& job) {
  if (job_is(job, "Complete")) return "Complete";
  if (job_is(job, "Failed")) return "Failed";
  if (at(job, {"metadata", "deletionTimestamp"}) != nullptr) return "Terminating";
  for (const std::string type : {"Suspended", "FailureTarget", "SuccessCriteriaMet"}) {
    if (job_is(job, type)) return type;
  }
  return "Running";
}

std::string job_completions(const Json& job) {
  const std::string done = std::to_string(status_number(job, "succeeded")) + "/";
  if (const auto wanted = number_at(job, {"spec", "completions"}); wanted) {
    return done + std::to_string(*wanted);
  }
  const std::int64_t parallel = number_at(job, {"spec", "parallelism"}).value_or(0);
  return parallel > 1 ? done + "1 of " + std::to_string(parallel) : done + "1";
}

std::string job_duration(const Json& job, WallTime now) {
  const auto start = parse_time(text_at(job, {"status", "startTime"}));
  if (!start) return "";
  const auto end = parse_time(text_at(job, {"status", "completionTime"}));
  return human_duration((end ? *end : now) - *start);
}

}  // namespace

std::string labels_text(const Json& labels) {
  std::string text;
  for (const auto& [key, value] : labels.items()) {
    if (!text.empty()) text += ',';
    text += key + "=" + (value.is_string() ? value.get<std::string>() : std::string());
  }
  return text.empty() ? "<none>" : text;
}

std::string selector_text(const Json& selector) {
  std::string text = labels_text(map_at(selector, {"matchLabels"}));
  if (text == "<none>") text.clear();
  for (const Json& expression : list_at(selector, {"matchExpressions"})) {
    if (!text.empty()) text += ',';
    text += expression_text(expression);
  }
  return text.empty() ? "<none>" : text;
}

Json deployment_cells(const Json& deployment, WallTime now) {
  return {text_at(deployment, {"metadata", "name"}),
          std::to_string(status_number(deployment, "readyReplicas")) + "/" +
              std::to_string(number_at(deployment, {"spec", "replicas"}).value_or(0)),
          status_number(deployment, "updatedReplicas"),
          status_number(deployment, "availableReplicas"),
          age(deployment, now),
          joined(containers_of(deployment), "name"),
          joined(containers_of(deployment), "image"),
          selector_text(map_at(deployment, {"spec", "selector"}))};
}

Json replica_set_cells(const Json& set, WallTime now) {
  return {text_at(set, {"metadata", "name"}),
          number_at(set, {"spec", "replicas"}).value_or(0),
          status_number(set, "replicas"),
          status_number(set, "readyReplicas"),
          age(set, now),
          joined(containers_of(set), "name"),
          joined(containers_of(set), "image"),
          selector_text(map_at(set, {"spec", "selector"}))};
}

Json job_cells(const Json& job, WallTime now) {
  return {text_at(job, {"metadata", "name"}),
          job_status(job),
          job_completions(job),
          job_duration(job, now),
          age(job, now),
          joined(containers_of(job), "name"),
          joined(containers_of(job), "image"),
          selector_text(map_at(job, {"spec", "selector"}))};
}

Json role_binding_cells(const Json& binding, WallTime now) {
  std::array<std::string, 3> names;  // users, groups, service accounts
  const auto add = [&](std::size_t place, const std::string& name) {
    if (!names.at(place).empty()) names.at(place) += ", ";
    names.at(place) += name;
  };
  for (const Json& subject : list_at(binding, {"subjects"})) {
    const std::string kind = text_at(subject, {"kind"});
    const std::string name = text_at(subject, {"name"});
    if (kind == "User") add(0, name);
    if (kind == "Group") add(1, name);
    if (kind == "ServiceAccount") add(2, text_at(subject, {"namespace"}) + "/" + name);
  }
  return {text_at(binding, {"metadata", "name"}),
          text_at(binding, {"roleRef", "kind"}) + "/" + text_at(binding, {"roleRef", "name"}),
          age(binding, now),
          names[0],
          names[1],
          names[2]};
}

}  // namespace amdahl::local

#include "operator/training/pod_variables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json_member.hpp"

namespace amdahl::training {
namespace {

void erase_env(Json& container, std::string_view name) {
  const auto env = container.find("env");
  if (env == container.end() || !env->is_array()) return;
  std::erase_if(env->get_ref<Json::array_t&>(),
                [&](const Json& entry) { return text_of(entry, "name") == name; });
}

}  // namespace

Json& list_in(Json& object, const char* key) {
  Json& list = object[key];
  if (!list.is_array()) list = Json::array();
  return list;
}

void PodVariables::set(std::string_view name, std::string value) {
  variables_.emplace_back(name, std::move(value));
}

void PodVariables::put_as_env(Json& container) const {
  for (const auto& [name, value] : variables_)
    list_in(container, "env").push_back({{"name", name}, {"value", value}});
}

std::vector<std::string> PodVariables::as_arguments() const {
  std::vector<std::string> arguments;
  arguments.reserve(variables_.size());
  for (const auto& [name, value] : variables_)
    arguments.push_back(fmt::format("--env={}={}", name, value));
  return arguments;
}

void PodVariables::erase_from(Json& container) const {
  for (const auto& [name, value] : variables_) erase_env(container, name);
}

bool has_env(const Json& container, std::string_view name) {
  const Json& env = member_of(container, "env");
  return env.is_array() && std::ranges::any_of(env, [&](const Json& entry) {
           return text_of(entry, "name") == name;
         });
}

void put_field_env(Json& container, std::string_view name, const char* path) {
  erase_env(container, name);
  list_in(container, "env")
      .push_back({{"name", name}, {"valueFrom", {{"fieldRef", {{"fieldPath", path}}}}}});
}

}  // namespace amdahl::training

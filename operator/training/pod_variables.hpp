// The variables that a trainer's process gets, and how they get into its pod. Pure.
//
// A pod without amdahl-launch has them as `env`. With it, they are arguments of the launcher, which
// sets them: an API server takes apart every entry of `env` at every write of a pod
// (managedFields), and a list of arguments in one piece (ADR 0022).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/fields.hpp"
#include "operator/training/types.hpp"

namespace amdahl::training {

// As an array to append to, whatever the user wrote.
Json& list_in(Json& object, const char* key);

class PodVariables {
 public:
  void set(std::string_view name, std::string value);

  void put_as_env(Json& container) const;
  std::vector<std::string> as_arguments() const;  // "--env=NAME=value"
  // What the user gave the same names does not count, and would mislead a reader of the pod.
  void erase_from(Json& container) const;

 private:
  std::vector<std::pair<std::string, std::string>> variables_;
};

// Whether the container has it, with a value or a source of one.
bool has_env(const Json& container, std::string_view name);

// One that only the node knows.
void put_field_env(Json& container, std::string_view name, const char* path);

}  // namespace amdahl::training

// Rules of a container's resources; see rules.hpp.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "local/apiserver/kinds/json_access.hpp"
#include "local/apiserver/kinds/names.hpp"
#include "local/apiserver/kinds/rules.hpp"
#include "operator/kube/quantity.hpp"

namespace amdahl::local {

namespace {

using kube::Quantity;

constexpr std::array<std::string_view, 14> kStandard = {"cpu",
                                                        "memory",
                                                        "ephemeral-storage",
                                                        "storage",
                                                        "pods",
                                                        "services",
                                                        "secrets",
                                                        "configmaps",
                                                        "requests.cpu",
                                                        "requests.memory",
                                                        "limits.cpu",
                                                        "limits.memory",
                                                        "resourcequotas",
                                                        "persistentvolumeclaims"};

bool is_huge(std::string_view name) {
  return name.starts_with("hugepages-");
}

bool is_native(std::string_view name) {
  return name.find('/') == std::string_view::npos ||
         name.find("kubernetes.io/") != std::string_view::npos;
}

bool is_extended(std::string_view name) {
  if (is_native(name) || name.starts_with("requests.")) return false;
  return qualified_name_errors("requests." + std::string(name)).empty();
}

bool for_containers(std::string_view name) {
  return name == "cpu" || name == "memory" || name == "ephemeral-storage" || is_huge(name);
}

void check_resource_name(const FieldPath& path, const std::string& name, Causes& causes) {
  causes.invalid(path, name, qualified_name_errors(name));
  if (name.find('/') == std::string::npos) {
    const bool standard = std::ranges::find(kStandard, name) != kStandard.end() || is_huge(name);
    if (!standard) {
      causes.invalid(path, name, "must be a standard resource type or fully qualified");
    }
    if (!for_containers(name)) {
      causes.invalid(path, name, "must be a standard resource for containers");
    }
  } else if (!is_native(name) && !is_extended(name)) {
    causes.invalid(path, name, "doesn't follow extended resource name standard");
  }
}

void check_amount(const FieldPath& path, const std::string& name, const Quantity& amount,
                  Causes& causes) {
  if (amount < Quantity()) {
    causes.invalid(path, amount.to_string(), "must be greater than or equal to 0");
  }
  if (is_extended(name) && amount.milli_value() % 1000 != 0) {
    causes.invalid(path, amount.to_string(), "must be an integer");
  }
}

void check_request(const FieldPath& path, const std::string& name, const Quantity& amount,
                   const Json& limits, Causes& causes) {
  const bool fixed = is_extended(name) || is_huge(name);
  const std::string text = text_at(limits, {name});
  const auto limit = Quantity::parse(text);
  if (text.empty() || !limit) {
    if (fixed) {
      causes.required(path.child("limits"), "Limit must be set for non overcommitable resources");
    }
    return;
  }
  if (fixed && amount != *limit) {
    causes.invalid(path.child("requests"), amount.to_string(),
                   "must be equal to " + name + " limit of " + limit->to_string());
  } else if (!fixed && amount > *limit) {
    causes.invalid(path.child("requests"), amount.to_string(),
                   "must be less than or equal to " + name + " limit of " + limit->to_string());
  }
}

bool any_huge(const Json& amounts) {
  return std::ranges::any_of(amounts.items(), [](const auto& item) { return is_huge(item.key()); });
}

bool any_cpu_or_memory(const Json& amounts) {
  return amounts.contains("cpu") || amounts.contains("memory");
}

}  // namespace

void check_resources(const FieldPath& path, const Json& resources, Causes& causes) {
  const Json& limits = map_at(resources, {"limits"});
  const Json& requests = map_at(resources, {"requests"});
  for (const std::string_view list : {"limits", "requests"}) {
    for (const auto& [name, value] : map_at(resources, {list}).items()) {
      const FieldPath at_name = path.child(list).key(name);
      check_resource_name(at_name, name, causes);
      if (!value.is_string()) continue;
      const auto amount = Quantity::parse(value.get_ref<const std::string&>());
      if (!amount) continue;
      check_amount(at_name, name, *amount, causes);
      if (list == "requests") check_request(path, name, *amount, limits, causes);
    }
  }
  const bool huge = any_huge(limits) || any_huge(requests);
  if (huge && !any_cpu_or_memory(limits) && !any_cpu_or_memory(requests)) {
    causes.forbidden(path, "HugePages require cpu or memory");
  }
}

}  // namespace amdahl::local

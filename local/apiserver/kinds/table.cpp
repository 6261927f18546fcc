#include "local/apiserver/kinds/table.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "local/apiserver/kinds/json_access.hpp"
#include "local/apiserver/kinds/table_kinds.hpp"

namespace amdahl::local {

namespace {

Json config_map_cells(const Json& config_map, WallTime now) {
  const std::size_t count =
      map_at(config_map, {"data"}).size() + map_at(config_map, {"binaryData"}).size();
  return {text_at(config_map, {"metadata", "name"}), count,
          human_age(text_at(config_map, {"metadata", "creationTimestamp"}), now)};
}

Json secret_cells(const Json& secret, WallTime now) {
  return {text_at(secret, {"metadata", "name"}), text_at(secret, {"type"}),
          map_at(secret, {"data"}).size(),
          human_age(text_at(secret, {"metadata", "creationTimestamp"}), now)};
}

Json service_account_cells(const Json& account, WallTime now) {
  return {text_at(account, {"metadata", "name"}), list_at(account, {"secrets"}).size(),
          human_age(text_at(account, {"metadata", "creationTimestamp"}), now)};
}

Json namespace_cells(const Json& ns, WallTime now) {
  return {text_at(ns, {"metadata", "name"}), text_at(ns, {"status", "phase"}),
          human_age(text_at(ns, {"metadata", "creationTimestamp"}), now)};
}

Json lease_cells(const Json& lease, WallTime now) {
  return {text_at(lease, {"metadata", "name"}), text_at(lease, {"spec", "holderIdentity"}),
          human_age(text_at(lease, {"metadata", "creationTimestamp"}), now)};
}

Json priority_class_cells(const Json& priority_class, WallTime now) {
  return {text_at(priority_class, {"metadata", "name"}),
          number_at(priority_class, {"value"}).value_or(0),
          flag_at(priority_class, {"globalDefault"}),
          human_age(text_at(priority_class, {"metadata", "creationTimestamp"}), now),
          text_at(priority_class, {"preemptionPolicy"})};
}

struct Row {
  std::string_view kind = {};
  // "Name Ready *IP": a star marks a column of -o wide, '#' an integer, '?' a boolean.
  std::string_view columns = {};
  Json (*cells)(const Json&, WallTime) = nullptr;
};

constexpr std::array kRows = {
    Row{"Pod", "Name|Ready|Status|Restarts|Age|*IP|*Node|*Nominated Node|*Readiness Gates",
        pod_cells},
    Row{"Service", "Name|Type|Cluster-IP|External-IP|Port(s)|Age|*Selector", service_cells},
    Row{"ConfigMap", "Name|Data|Age", config_map_cells},
    Row{"Secret", "Name|Type|Data|Age", secret_cells},
    Row{"ServiceAccount", "Name|Secrets|Age", service_account_cells},
    Row{"Event", "Last Seen|Type|Reason|Object|*Subobject|*Source|Message|*First Seen|*Count|*Name",
        event_cells},
    Row{"Endpoints", "Name|Endpoints|Age", endpoints_cells},
    Row{"EndpointSlice", "Name|AddressType|Ports|Endpoints|Age", endpoint_slice_cells},
    Row{"PersistentVolumeClaim",
        "Name|Status|Volume|Capacity|Access Modes|StorageClass|VolumeAttributesClass|Age|"
        "*VolumeMode",
        volume_claim_cells},
    Row{"PersistentVolume",
        "Name|Capacity|Access Modes|Reclaim Policy|Status|Claim|StorageClass|"
        "VolumeAttributesClass|Reason|Age|*VolumeMode",
        volume_cells},
    Row{"Deployment", "Name|Ready|Up-to-date|Available|Age|*Containers|*Images|*Selector",
        deployment_cells},
    Row{"ReplicaSet", "Name|#Desired|#Current|#Ready|Age|*Containers|*Images|*Selector",
        replica_set_cells},
    Row{"Job", "Name|Status|Completions|Duration|Age|*Containers|*Images|*Selector", job_cells},
    Row{"Lease", "Name|Holder|Age", lease_cells},
    Row{"RoleBinding", "Name|Role|Age|*Users|*Groups|*ServiceAccounts", role_binding_cells},
    Row{"ClusterRoleBinding", "Name|Role|Age|*Users|*Groups|*ServiceAccounts", role_binding_cells},
    Row{"PriorityClass", "Name|#Value|?Global-Default|Age|PreemptionPolicy", priority_class_cells},
    Row{"Node",
        "Name|Status|Roles|Age|Version|*Internal-IP|*External-IP|*OS-Image|*Kernel-Version|"
        "*Container-Runtime",
        node_cells},
    Row{"Namespace", "Name|Status|Age", namespace_cells},
};

const Row* row_of(const Kind& kind) {
  if (!kind.builtin) return nullptr;
  const auto found = std::ranges::find(kRows, kind.kind, &Row::kind);
  return found == kRows.end() ? nullptr : &*found;
}

Json column(std::string_view name, std::string_view type, std::string_view description,
            std::int32_t priority) {
  return {{"name", name},
          {"type", type},
          {"format", name == "Name" ? "name" : ""},
          {"description", description},
          {"priority", priority}};
}

Json built_columns(std::string_view names) {
  Json columns = Json::array();
  while (!names.empty()) {
    std::string_view name = names.substr(0, names.find('|'));
    names.remove_prefix(std::min(name.size() + 1, names.size()));
    std::string_view type = "string";
    if (name.starts_with('#')) type = "integer";
    if (name.starts_with('?')) type = "boolean";
    const int priority = name.starts_with('*') ? 1 : 0;
    if (type != "string" || priority == 1) name.remove_prefix(1);
    columns.push_back(column(name, type, "", priority));
  }
  return columns;
}

Json custom_cell(const PrinterColumn& printed, const Json* value, WallTime now) {
  if (value == nullptr || value->is_null()) return nullptr;
  if (printed.type == "string") {
    return value->is_string() ? *value
                              : Json(value->dump(-1, ' ', false, Json::error_handler_t::replace));
  }
  if (printed.type == "integer" && value->is_number_float()) {
    const double number = value->get<double>();
    constexpr double kBound = 9.0e18;
    if (number > -kBound && number < kBound) return static_cast<std::int64_t>(number);
    return nullptr;
  }
  if (printed.type == "integer" && value->is_number()) return *value;
  if (printed.type == "number" && value->is_number()) return *value;
  if (printed.type == "boolean" && value->is_boolean()) return *value;
  if (printed.type == "date" && value->is_string()) {
    const auto& text = value->get_ref<const std::string&>();
    return parse_time(text) ? human_age(text, now) : "<invalid>";
  }
  return nullptr;
}

Json custom_cells(const Kind& kind, const Json& object, WallTime now) {
  Json cells = Json::array({text_at(object, {"metadata", "name"})});
  if (kind.columns.empty()) {
    cells.push_back(human_age(text_at(object, {"metadata", "creationTimestamp"}), now));
  }
  for (const PrinterColumn& printed : kind.columns) {
    cells.push_back(custom_cell(printed, json_path_first(object, printed.json_path), now));
  }
  return cells;
}

Json object_of(const Json& object, IncludeObject include) {
  if (include == IncludeObject::kObject) return object;
  return {{"kind", "PartialObjectMetadata"},
          {"apiVersion", "meta.k8s.io/v1"},
          {"metadata", map_at(object, {"metadata"})}};
}

}  // namespace

Json table_columns(const Kind& kind) {
  if (const Row* row = row_of(kind); row != nullptr) return built_columns(row->columns);
  Json columns = Json::array({column("Name", "string", "The name of the object.", 0)});
  if (kind.builtin) {
    columns.push_back(column("Created At", "date", "When the object was created.", 0));
  } else if (kind.columns.empty()) {
    columns.push_back(column("Age", "date", "How long ago the object was created.", 0));
  }
  for (const PrinterColumn& printed : kind.columns) {
    Json entry = column(printed.name, printed.type, printed.description, printed.priority);
    entry["format"] = printed.format;
    if (printed.description.empty()) {
      entry["description"] =
          "Custom resource definition column (in JSONPath format): " + printed.json_path;
    }
    columns.push_back(std::move(entry));
  }
  return columns;
}

Json table_cells(const Kind& kind, const Json& object, WallTime now) {
  if (!kind.builtin) return custom_cells(kind, object, now);
  if (const Row* row = row_of(kind); row != nullptr) return row->cells(object, now);
  return {text_at(object, {"metadata", "name"}),
          text_at(object, {"metadata", "creationTimestamp"})};
}

Json make_table(const Kind& kind, std::span<const Json* const> objects,
                const TableOptions& options) {
  Json rows = Json::array();
  for (const Json* object : objects) {
    Json row = {{"cells", table_cells(kind, *object, options.now)}};
    if (kind.builtin && kind.kind == "Pod") {
      Json conditions = pod_row_conditions(*object);
      if (!conditions.empty()) row["conditions"] = std::move(conditions);
    }
    row["object"] =
        options.include == IncludeObject::kNone ? Json() : object_of(*object, options.include);
    rows.push_back(std::move(row));
  }
  return {{"kind", "Table"},
          {"apiVersion", "meta.k8s.io/v1"},
          {"metadata", Json::object()},
          {"columnDefinitions", options.headers ? table_columns(kind) : Json()},
          {"rows", std::move(rows)}};
}

}  // namespace amdahl::local

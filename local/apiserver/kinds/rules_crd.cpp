// Rules of CustomResourceDefinitions, their schemas excepted; see rules.hpp.
#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include "local/apiserver/kinds/json_access.hpp"
#include "local/apiserver/kinds/names.hpp"
#include "local/apiserver/kinds/rules.hpp"

namespace amdahl::local {

namespace {

// As Kubernetes shows the list: the members it decides on, the rest as if empty.
std::string shown_versions(const Json& crd) {
  const Json* versions = at(crd, {"spec", "versions"});
  if (versions == nullptr || !versions->is_array()) return "null";
  std::string shown = "[";
  for (const Json& version : *versions) {
    if (shown.size() > 1) shown += ',';
    shown += R"({"Name":)" + Json(text_at(version, {"name"})).dump();
    shown += flag_at(version, {"served"}) ? R"(,"Served":true)" : R"(,"Served":false)";
    shown += flag_at(version, {"storage"}) ? R"(,"Storage":true)" : R"(,"Storage":false)";
    shown += R"(,"Deprecated":false,"DeprecationWarning":null,"Schema":null,"Subresources":null,)";
    shown += R"("AdditionalPrinterColumns":null,"SelectableFields":null})";
  }
  return shown + "]";
}

void check_path(const FieldPath& path, const std::string& text, bool required, Causes& causes) {
  if (text.empty()) {
    if (required) causes.required(path);
  } else if (!text.starts_with('.')) {
    causes.invalid(path, text, "must be a simple json path starting with .");
  }
}

void check_scale(const FieldPath& path, const Json& version, Causes& causes) {
  const Json* scale = at(version, {"subresources", "scale"});
  if (scale == nullptr) return;
  const FieldPath at_scale = path.child("subresources").child("scale");
  check_path(at_scale.child("specReplicasPath"), text_at(*scale, {"specReplicasPath"}), true,
             causes);
  check_path(at_scale.child("statusReplicasPath"), text_at(*scale, {"statusReplicasPath"}), true,
             causes);
  check_path(at_scale.child("labelSelectorPath"), text_at(*scale, {"labelSelectorPath"}), false,
             causes);
}

void check_columns(const FieldPath& path, const Json& version, Causes& causes) {
  const Json& columns = list_at(version, {"additionalPrinterColumns"});
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const FieldPath at_column = path.child("additionalPrinterColumns").index(i);
    if (text_at(columns[i], {"name"}).empty()) causes.required(at_column.child("name"));
    const std::string type = text_at(columns[i], {"type"});
    constexpr std::array<std::string_view, 5> kTypes = {"boolean", "date", "integer", "number",
                                                        "string"};
    if (type.empty()) {
      causes.required(at_column.child("type"), "must be one of boolean,date,integer,number,string");
    } else if (std::ranges::find(kTypes, type) == kTypes.end()) {
      causes.invalid(at_column.child("type"), type,
                     "must be one of boolean,date,integer,number,string");
    }
    check_path(at_column.child("JSONPath"), text_at(columns[i], {"jsonPath"}), true, causes);
  }
}

// Why ".spec.color" leads to no field of the schema; "" when it does, and `type` is the field's.
std::string wrong_field_path(std::string_view text, const Json& root, std::string& type) {
  const Json* schema = &root;
  while (!text.empty()) {
    if (text.front() == '[') return "array notation is not allowed";
    if (text.front() != '.') {
      return "expected [ or . but got: " + std::string(text.substr(0, text.find_first_of(".[]")));
    }
    text.remove_prefix(1);
    if (text.empty()) return "unexpected end of JSON path";
    const std::size_t end =
        std::max<std::size_t>(1, std::min(text.find_first_of(".[]"), text.size()));
    const bool named = member(*schema, "properties") != nullptr;
    schema = named ? at(*schema, {"properties", text.substr(0, end)})
                   : member(*schema, "additionalProperties");
    if (schema == nullptr) return "does not refer to a valid field";
    text.remove_prefix(end);
  }
  type = text_at(*schema, {"type"});
  return "";
}

void check_selectable(const FieldPath& path, const Json& version, Causes& causes) {
  const Json& fields = list_at(version, {"selectableFields"});
  if (!fields.empty() && at(version, {"schema", "openAPIV3Schema"}) == nullptr) {
    causes.invalid(path.child("selectableFields"), "",
                   "may only be set when validations.schema is included");
    return;
  }
  std::set<std::string> seen;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const FieldPath at_field = path.child("selectableFields").index(i).child("jsonPath");
    const std::string text = text_at(fields[i], {"jsonPath"});
    if (text.empty()) {
      causes.required(at_field);
      continue;
    }
    std::string type;
    const std::string why =
        wrong_field_path(text, map_at(version, {"schema", "openAPIV3Schema"}), type);
    if (!why.empty()) {
      causes.invalid(at_field, text, "is an invalid path: " + why);
      continue;
    }
    if (text.starts_with(".metadata")) {
      causes.invalid(at_field, text, "must not point to fields in metadata");
    }
    if (type != "string" && type != "boolean" && type != "integer") {
      causes.invalid(at_field, text,
                     "must point to a field of type string, boolean or integer. Enum string fields "
                     "and strings with formats are allowed.");
    }
    if (!seen.insert(text).second) causes.duplicate(at_field, text);
  }
}

void check_versions(const Json& crd, Causes& causes) {
  const FieldPath path("spec.versions");
  const Json& versions = list_at(crd, {"spec", "versions"});
  // What all versions have in common is reported without the version's index.
  const bool single = versions.size() == 1;
  std::set<std::string> names;
  bool unique = true;
  std::size_t storages = 0;
  for (std::size_t i = 0; i < versions.size(); ++i) {
    const FieldPath at_version = path.index(i);
    const std::string name = text_at(versions[i], {"name"});
    unique = names.insert(name).second && unique;
    if (flag_at(versions[i], {"storage"})) ++storages;
    causes.invalid(at_version.child("name"), name, dns_1035_errors(name));
    if (i == 0) causes.invalid(FieldPath("spec.version"), name, dns_1035_errors(name));
    if (at(versions[i], {"schema", "openAPIV3Schema"}) == nullptr) {
      causes.required(at_version.child("schema").child("openAPIV3Schema"));
    }
    const FieldPath parts = single ? FieldPath("spec") : at_version;
    check_scale(parts, versions[i], causes);
    check_columns(parts, versions[i], causes);
    check_selectable(parts, versions[i], causes);
  }
  if (!unique) {
    causes.invalid_text(path, shown_versions(crd), "must contain unique version names");
  }
  if (storages != 1) {
    causes.invalid_text(path, shown_versions(crd),
                        "must have exactly one version marked as storage version");
  }
}

std::string lower(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

void check_kind_name(const FieldPath& path, const std::string& name, Causes& causes) {
  if (name.empty()) return causes.required(path);
  if (!dns_1035_errors(lower(name)).empty()) {
    causes.invalid(
        path, name,
        "may have mixed case, but should otherwise match: " + dns_1035_errors(lower(name)).front());
  }
}

void check_names(const Json& crd, Causes& causes) {
  const FieldPath path("spec.names");
  const Json& names = map_at(crd, {"spec", "names"});
  for (const std::string_view name : {"plural", "singular"}) {
    const std::string text = text_at(names, {name});
    if (text.empty()) {
      causes.required(path.child(name));
    } else {
      causes.invalid(path.child(name), text, dns_1035_errors(text));
    }
  }
  check_kind_name(path.child("kind"), text_at(names, {"kind"}), causes);
  check_kind_name(path.child("listKind"), text_at(names, {"listKind"}), causes);
  for (const std::string_view list : {"shortNames", "categories"}) {
    const Json& texts = list_at(names, {list});
    for (std::size_t i = 0; i < texts.size(); ++i) {
      if (!texts[i].is_string()) continue;
      causes.invalid(path.child(list).index(i), texts[i],
                     dns_1035_errors(texts[i].get_ref<const std::string&>()));
    }
  }
  const std::string kind = text_at(names, {"kind"});
  if (!kind.empty() && kind == text_at(names, {"listKind"})) {
    causes.invalid(path.child("listKind"), kind, "kind and listKind may not be the same");
  }
}

void check_stored(const Json& crd, Causes& causes) {
  const FieldPath path("status.storedVersions");
  const Json& stored = list_at(crd, {"status", "storedVersions"});
  if (stored.empty()) return causes.invalid(path, nullptr, "must have at least one stored version");
  for (const Json& version : list_at(crd, {"spec", "versions"})) {
    const Json name = text_at(version, {"name"});
    if (flag_at(version, {"storage"}) && std::ranges::find(stored, name) == stored.end()) {
      causes.invalid(path, stored, "must have the storage version " + name.get<std::string>());
    }
  }
}

// Groups of the Kubernetes project need its approval.
void check_approval(const Json& crd, const std::string& group, Causes& causes) {
  constexpr std::string_view kApproved = "api-approved.kubernetes.io";
  const bool theirs = group == "k8s.io" || group.ends_with(".k8s.io") || group == "kubernetes.io" ||
                      group.ends_with(".kubernetes.io");
  if (theirs && text_at(crd, {"metadata", "annotations", kApproved}).empty()) {
    causes.required(FieldPath("metadata.annotations").key(kApproved),
                    "protected groups must have approval annotation \"api-approved.kubernetes.io\""
                    ", see https://github.com/kubernetes/enhancements/pull/1111");
  }
}

}  // namespace

void check_crd(const Json& crd, Causes& causes) {
  const FieldPath path("spec");
  const std::string name = text_at(crd, {"metadata", "name"});
  const std::string group = text_at(crd, {"spec", "group"});
  if (name != text_at(crd, {"spec", "names", "plural"}) + "." + group) {
    causes.invalid(FieldPath("metadata.name"), name, "must be spec.names.plural+\".\"+spec.group");
  }
  if (group.empty()) {
    causes.required(path.child("group"));
  } else {
    causes.invalid(path.child("group"), group, dns_subdomain_errors(group));
    if (group.find('.') == std::string::npos) {
      causes.invalid(path.child("group"), group, "should be a domain with at least one dot");
    }
  }
  const std::string scope = text_at(crd, {"spec", "scope"});
  if (scope.empty()) {
    causes.required(path.child("scope"));
  } else {
    causes.one_of(path.child("scope"), scope, {"Cluster", "Namespaced"});
  }
  check_versions(crd, causes);
  check_names(crd, causes);
  check_stored(crd, causes);
  check_approval(crd, group, causes);
  if (flag_at(crd, {"spec", "preserveUnknownFields"})) {
    causes.invalid(path.child("preserveUnknownFields"), true,
                   "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in "
                   "spec.versions[*].schema instead");
  }
}

void check_crd_update(const Json& old, const Json& crd, Causes& causes) {
  check_crd(crd, causes);
  const auto fixed = [&](std::string_view name, const std::string& before, const std::string& now) {
    if (before != now) {
      causes.invalid(FieldPath("spec").child(name), now, "field is immutable");
    }
  };
  // Until the names are accepted nobody can have made an object.
  const auto established =
      std::ranges::any_of(list_at(old, {"status", "conditions"}), [](const Json& condition) {
        return text_at(condition, {"type"}) == "Established" &&
               text_at(condition, {"status"}) == "True";
      });
  fixed("group", text_at(old, {"spec", "group"}), text_at(crd, {"spec", "group"}));
  if (!established) return;
  fixed("scope", text_at(old, {"spec", "scope"}), text_at(crd, {"spec", "scope"}));
  fixed("names.kind", text_at(old, {"spec", "names", "kind"}),
        text_at(crd, {"spec", "names", "kind"}));
}

}  // namespace amdahl::local

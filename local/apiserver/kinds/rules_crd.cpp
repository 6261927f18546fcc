// Rules of CustomResourceDefinitions, in the order of kube-apiserver; see rules.hpp.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "local/apiserver/kinds/json_access.hpp"
#include "local/apiserver/kinds/names.hpp"
#include "local/apiserver/kinds/rules.hpp"
#include "local/apiserver/kinds/rules_crd_parts.hpp"

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

std::string lower(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

// All that is wrong with a name in one cause.
void check_label(const FieldPath& path, const std::string& text, Causes& causes,
                 std::string_view head = {}) {
  const std::string wanted = head.empty() ? text : lower(text);
  std::string why;
  for (const std::string& error : dns_1035_errors(wanted)) why += (why.empty() ? "" : ",") + error;
  if (!why.empty()) causes.invalid(path, text, std::string(head) + why);
}

void check_schemas_are_there(const Json& versions, Causes& causes) {
  for (std::size_t i = 0; i < versions.size(); ++i) {
    if (at(versions[i], {"schema", "openAPIV3Schema"}) != nullptr) continue;
    causes.required(FieldPath("spec.versions").index(i).child("schema").child("openAPIV3Schema"));
  }
}

void check_versions(const Json& crd, const SharedParts& shared, Causes& causes) {
  const FieldPath path("spec.versions");
  const Json& versions = list_at(crd, {"spec", "versions"});
  std::set<std::string> names;
  bool unique = true;
  std::size_t storages = 0;
  check_schemas_are_there(versions, causes);
  for (std::size_t i = 0; i < versions.size(); ++i) {
    const std::string name = text_at(versions[i], {"name"});
    unique = names.insert(name).second && unique;
    if (flag_at(versions[i], {"storage"})) ++storages;
    check_label(path.index(i).child("name"), name, causes);
    check_own_parts(path.index(i), versions[i], shared, causes);
  }
  if (!unique) {
    causes.invalid_text(path, shown_versions(crd), "must contain unique version names");
  }
  if (storages != 1) {
    causes.invalid_text(path, shown_versions(crd),
                        "must have exactly one version marked as storage version");
  }
  // Older clients knew one version only: the first.
  const std::string first = versions.empty() ? "" : text_at(versions[0], {"name"});
  if (!first.empty()) check_label(FieldPath("spec.version"), first, causes);
}

void check_labels_of(const FieldPath& path, const Json& texts, Causes& causes) {
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (texts[i].is_string()) check_label(path.index(i), texts[i].get<std::string>(), causes);
  }
}

void check_names(const Json& crd, Causes& causes) {
  constexpr std::string_view kMixedCase = "may have mixed case, but should otherwise match: ";
  const FieldPath path("spec.names");
  const Json& names = map_at(crd, {"spec", "names"});
  for (const std::string_view name : {"plural", "singular", "kind", "listKind"}) {
    if (text_at(names, {name}).empty()) causes.required(path.child(name));
  }
  for (const std::string_view name : {"plural", "singular", "kind", "listKind"}) {
    const bool is_kind = name == "kind" || name == "listKind";
    const std::string text = text_at(names, {name});
    if (!text.empty()) check_label(path.child(name), text, causes, is_kind ? kMixedCase : "");
  }
  check_labels_of(path.child("shortNames"), list_at(names, {"shortNames"}), causes);
  const std::string kind = text_at(names, {"kind"});
  if (!kind.empty() && kind == text_at(names, {"listKind"})) {
    causes.invalid(path.child("listKind"), kind, "kind and listKind may not be the same");
  }
  check_labels_of(path.child("categories"), list_at(names, {"categories"}), causes);
}

std::string gone_version(const std::string& name) {
  return "missing from spec.versions; " + name +
         " was previously a storage version, and must remain in spec.versions until a storage "
         "migration ensures no data remains persisted in " +
         name + " and removes " + name + " from status.storedVersions";
}

void check_stored(const Json& crd, Causes& causes) {
  const FieldPath path("status.storedVersions");
  const Json& stored = list_at(crd, {"status", "storedVersions"});
  if (stored.empty()) return causes.invalid(path, nullptr, "must have at least one stored version");
  std::map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < stored.size(); ++i) {
    if (stored[i].is_string()) places[stored[i].get<std::string>()] = i;
  }
  // A name that comes twice finds its place once.
  for (const Json& version : list_at(crd, {"spec", "versions"})) {
    const std::string name = text_at(version, {"name"});
    const bool found = places.erase(name) > 0;
    if (flag_at(version, {"storage"}) && !found) {
      causes.invalid(path, stored, "must have the storage version " + name);
    }
  }
  for (const auto& [name, i] : places) {
    causes.invalid(path.index(i), name, gone_version(name));
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

void check_spec(const Json& crd, Causes& causes) {
  const FieldPath path("spec");
  const std::string group = text_at(crd, {"spec", "group"});
  if (group.empty()) {
    causes.required(path.child("group"));
  } else if (const NameErrors errors = dns_subdomain_errors(group); !errors.empty()) {
    std::string why;
    for (const std::string& error : errors) why += (why.empty() ? "" : ",") + error;
    causes.invalid(path.child("group"), group, why);
  } else if (group.find('.') == std::string::npos) {
    causes.invalid(path.child("group"), group, "should be a domain with at least one dot");
  }
  const std::string scope = text_at(crd, {"spec", "scope"});
  if (scope.empty()) {
    causes.required(path.child("scope"));
  } else {
    causes.one_of(path.child("scope"), scope, {"Cluster", "Namespaced"});
  }
  const Json& versions = list_at(crd, {"spec", "versions"});
  const SharedParts shared = shared_parts(versions);
  check_versions(crd, shared, causes);
  check_names(crd, causes);
  check_shared_parts(versions, shared, causes);
}

// What may not change: the name follows from some of it, the storage from the rest.
void check_fixed(const Json& old, const Json& crd, Causes& causes) {
  const auto fixed = [&](std::initializer_list<std::string_view> names) {
    FieldPath path("spec");
    for (const std::string_view name : names) path = path.child(name);
    const Json& before = map_at(old, {"spec"});
    const Json& now = map_at(crd, {"spec"});
    if (text_at(before, names) != text_at(now, names)) {
      causes.invalid(path, text_at(now, names), "field is immutable");
    }
  };
  // Until the names are accepted nobody can have made an object.
  const bool established =
      std::ranges::any_of(list_at(old, {"status", "conditions"}), [](const Json& condition) {
        return text_at(condition, {"type"}) == "Established" &&
               text_at(condition, {"status"}) == "True";
      });
  if (established) {
    fixed({"scope"});
    fixed({"names", "kind"});
  }
  fixed({"group"});
  fixed({"names", "plural"});
}

void check_rest(const Json& crd, Causes& causes) {
  check_stored(crd, causes);
  check_approval(crd, text_at(crd, {"spec", "group"}), causes);
  if (flag_at(crd, {"spec", "preserveUnknownFields"})) {
    causes.invalid(FieldPath("spec.preserveUnknownFields"), true,
                   "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in "
                   "spec.versions[*].schema instead");
  }
}

}  // namespace

void check_crd(const Json& crd, Causes& causes) {
  check_spec(crd, causes);
  check_rest(crd, causes);
}

void check_crd_update(const Json& old, const Json& crd, Causes& causes) {
  check_spec(crd, causes);
  check_fixed(old, crd, causes);
  check_rest(crd, causes);
}

}  // namespace amdahl::local

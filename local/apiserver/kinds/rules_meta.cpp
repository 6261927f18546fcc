// Rules of metadata, of every kind; see builtin_rules.hpp.
#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include "local/apiserver/kinds/builtin_rules.hpp"
#include "local/apiserver/kinds/json_access.hpp"
#include "local/apiserver/kinds/names.hpp"
#include "local/apiserver/kinds/rules.hpp"

namespace amdahl::local {

namespace {

constexpr std::size_t kAnnotationBytesMax = 256U << 10U;

// Of events of the core group only that is checked which is checked of every object.
bool is_core_event(const Kind& kind) {
  return kind.builtin && kind.kind == "Event" && kind.group.empty();
}

bool is_standard_finalizer(std::string_view name) {
  return name == "orphan" || name == "foregroundDeletion" || name == "kubernetes";
}

// Those whose checks are built on the core group's; the others take any qualified name.
bool wants_known_finalizers(const Kind& kind) {
  return kind.builtin && !is_core_event(kind) && kind.kind != "Lease" &&
         kind.kind != "CustomResourceDefinition";
}

// `name`, or a prefix whose end was made good.
NameErrors name_errors(const Kind& kind, std::string_view name) {
  if (is_core_event(kind)) return path_segment_errors(name);
  if (!kind.builtin) return dns_subdomain_errors(name);
  if (kind.kind == "Namespace") return dns_label_errors(name);
  if (kind.kind == "Service") return dns_1035_errors(name);
  if (kind.group == "rbac.authorization.k8s.io") return path_segment_errors(name);
  return dns_subdomain_errors(name);
}

// A prefix may end with a dash: what follows makes it whole.
std::string masked(std::string prefix) {
  if (prefix.size() > 1 && prefix.ends_with('-')) prefix.back() = 'a';
  return prefix;
}

// A definition's name follows from what it defines.
void check_defined_name(const Kind& kind, const Json& object, std::string_view field,
                        Causes& causes) {
  if (!kind.builtin || kind.kind != "CustomResourceDefinition") return;
  const std::string name = text_at(object, {"metadata", field});
  const std::string wanted =
      text_at(object, {"spec", "names", "plural"}) + "." + text_at(object, {"spec", "group"});
  if (name != wanted) {
    causes.invalid(FieldPath("metadata").child(field), name,
                   "must be spec.names.plural+\".\"+spec.group");
  }
}

void check_name(const Kind& kind, const Json& object, const FieldPath& path, Causes& causes) {
  const Json& metadata = map_at(object, {"metadata"});
  const std::string prefix = text_at(metadata, {"generateName"});
  if (!prefix.empty()) {
    causes.invalid(path.child("generateName"), prefix, name_errors(kind, masked(prefix)));
    check_defined_name(kind, object, "generateName", causes);
  }
  const std::string name = text_at(metadata, {"name"});
  if (name.empty()) {
    causes.required(path.child("name"), "name or generateName is required");
  } else {
    causes.invalid(path.child("name"), name, name_errors(kind, name));
    check_defined_name(kind, object, "name", causes);
  }
  const std::string ns = text_at(metadata, {"namespace"});
  if (!kind.namespaced) {
    if (!ns.empty()) causes.forbidden(path.child("namespace"), "not allowed on this type");
  } else if (ns.empty()) {
    causes.required(path.child("namespace"));
  } else {
    causes.invalid(path.child("namespace"), ns, dns_label_errors(ns));
  }
}

// In the order in which Go writes it.
std::string shown_owner(const Json& owner) {
  std::string shown;
  for (const std::string_view name :
       {"apiVersion", "kind", "name", "uid", "controller", "blockOwnerDeletion"}) {
    const Json* value = member(owner, name);
    if (value == nullptr) continue;
    shown += shown.empty() ? "{\"" : ",\"";
    shown += name;
    shown += "\":" + value->dump(-1, ' ', false, Json::error_handler_t::replace);
  }
  return shown.empty() ? "{}" : shown + "}";
}

std::string shown_owners(const Json& owners) {
  std::string shown;
  for (const Json& owner : owners) shown += (shown.empty() ? "[" : ",") + shown_owner(owner);
  return shown + "]";
}

void check_owner(const FieldPath& path, const Json& owner, Causes& causes) {
  const std::string version = text_at(owner, {"apiVersion"});
  const std::size_t slash = version.find('/');
  const bool has_version =
      slash == std::string::npos ? !version.empty() : slash + 1 < version.size();
  if (!has_version) {
    causes.invalid(path.child("apiVersion"), version, "version must not be empty");
  }
  for (const std::string_view name : {"kind", "name", "uid"}) {
    const std::string text = text_at(owner, {name});
    if (text.empty()) causes.invalid(path.child(name), text, "must not be empty");
  }
  if (version == "v1" && text_at(owner, {"kind"}) == "Event") {
    causes.invalid_text(path, shown_owner(owner),
                        "/v1, Kind=Event is disallowed from being an owner");
  }
}

void check_owners(const FieldPath& path, const Json& owners, Causes& causes) {
  std::string first;
  for (const Json& owner : owners) {
    check_owner(path, owner, causes);
    if (!flag_at(owner, {"controller"})) continue;
    const std::string name = text_at(owner, {"kind"}) + "/" + text_at(owner, {"name"});
    if (first.empty()) {
      first = name;
    } else {
      causes.invalid_text(path, shown_owners(owners),
                          "Only one reference can have Controller set to true. Found \"true\" in "
                          "references for " +
                              first + " and " + name);
    }
  }
}

void check_finalizers(const Kind& kind, const FieldPath& path, const Json& finalizers,
                      Causes& causes) {
  bool orphan = false;
  bool foreground = false;
  for (const Json& finalizer : finalizers) {
    if (!finalizer.is_string()) continue;
    causes.invalid(path, finalizer, qualified_name_errors(finalizer.get_ref<const std::string&>()));
    orphan = orphan || finalizer == "orphan";
    foreground = foreground || finalizer == "foregroundDeletion";
  }
  if (orphan && foreground) {
    causes.invalid(path, finalizers, "finalizer orphan and foregroundDeletion cannot be both set");
  }
  for (std::size_t i = 0; wants_known_finalizers(kind) && i < finalizers.size(); ++i) {
    if (!finalizers[i].is_string()) continue;
    const auto& text = finalizers[i].get_ref<const std::string&>();
    if (!is_standard_finalizer(text) && text.find('/') == std::string::npos) {
      causes.invalid(path.index(i), text,
                     "name is neither a standard finalizer name nor is it fully qualified");
    }
  }
}

std::set<std::string> new_finalizers(const Json& old, const Json& object) {
  std::set<std::string> added;
  const Json& before = list_at(old, {"metadata", "finalizers"});
  for (const Json& finalizer : list_at(object, {"metadata", "finalizers"})) {
    if (finalizer.is_string() && std::ranges::find(before, finalizer) == before.end()) {
      added.insert(finalizer.get<std::string>());
    }
  }
  return added;
}

void check_new_finalizers(const Json& old, const Json& object, Causes& causes) {
  const std::set<std::string> added = new_finalizers(old, object);
  if (added.empty()) return;
  std::string list;
  for (const std::string& name : added) list += (list.empty() ? "\"" : ", \"") + name + "\"";
  causes.forbidden(FieldPath("metadata.finalizers"),
                   "no new finalizers can be added if the object is being deleted, found new "
                   "finalizers []string{" +
                       list + "}");
}

}  // namespace

void check_labels(const FieldPath& path, const Json& labels, Causes& causes) {
  for (const auto& [key, value] : labels.items()) {
    causes.invalid(path, key, qualified_name_errors(key));
    if (!value.is_string()) continue;
    causes.invalid(path, value, label_value_errors(value.get_ref<const std::string&>()));
  }
}

void check_annotations(const FieldPath& path, const Json& annotations, Causes& causes) {
  std::size_t bytes = 0;
  for (const auto& [key, value] : annotations.items()) {
    std::string lower = key;
    std::ranges::transform(lower, lower.begin(), [](char c) {
      return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    causes.invalid(path, key, qualified_name_errors(lower));
    bytes += key.size();
    if (value.is_string()) bytes += value.get_ref<const std::string&>().size();
  }
  if (bytes > kAnnotationBytesMax) causes.too_long(path, kAnnotationBytesMax);
}

std::vector<std::string> finalizer_warnings(const Json& old, const Json& object) {
  std::vector<std::string> texts;
  for (const std::string& name : new_finalizers(old, object)) {
    if (is_standard_finalizer(name) || name.find('/') != std::string::npos) continue;
    const bool has_domain = name.find('.') != std::string::npos;
    texts.push_back("metadata.finalizers: " + Json(name).dump() +
                    ": prefer a domain-qualified finalizer name" +
                    (has_domain ? " including a path (/)" : "") +
                    " to avoid accidental conflicts with other finalizer writers");
  }
  return texts;
}

std::vector<Cause> validate_meta(const Kind& kind, const Json& object) {
  Causes causes;
  const FieldPath path("metadata");
  const Json& metadata = map_at(object, {"metadata"});
  check_name(kind, object, path, causes);
  causes.not_negative(path, metadata, "generation");
  check_labels(path.child("labels"), map_at(metadata, {"labels"}), causes);
  check_annotations(path.child("annotations"), map_at(metadata, {"annotations"}), causes);
  check_owners(path.child("ownerReferences"), list_at(metadata, {"ownerReferences"}), causes);
  check_finalizers(kind, path.child("finalizers"), list_at(metadata, {"finalizers"}), causes);
  return causes.take();
}

std::vector<Cause> validate_meta_update(const Kind& kind, const Json& old, const Json& object) {
  Causes causes;
  const FieldPath path("metadata");
  const Json& metadata = map_at(object, {"metadata"});
  if (at(old, {"metadata", "deletionTimestamp"}) != nullptr) {
    check_new_finalizers(old, object, causes);
  }
  for (const std::string_view name : {"name", "namespace", "uid", "creationTimestamp",
                                      "deletionTimestamp", "deletionGracePeriodSeconds"}) {
    const Json* before = at(old, {"metadata", name});
    const Json* now = member(metadata, name);
    const bool same = (before == nullptr || now == nullptr) ? before == now : *before == *now;
    if (!same) {
      causes.invalid(path.child(name), now == nullptr ? Json() : *now, "field is immutable");
    }
  }
  check_labels(path.child("labels"), map_at(metadata, {"labels"}), causes);
  check_annotations(path.child("annotations"), map_at(metadata, {"annotations"}), causes);
  check_owners(path.child("ownerReferences"), list_at(metadata, {"ownerReferences"}), causes);
  check_finalizers(kind, path.child("finalizers"), list_at(metadata, {"finalizers"}), causes);
  return causes.take();
}

}  // namespace amdahl::local

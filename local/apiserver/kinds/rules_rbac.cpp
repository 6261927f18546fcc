// Rules of roles and bindings; see rules.hpp.
#include <string>
#include <string_view>

#include "local/apiserver/kinds/json_access.hpp"
#include "local/apiserver/kinds/names.hpp"
#include "local/apiserver/kinds/rules.hpp"

namespace amdahl::local {

namespace {

void check_rule(const FieldPath& path, const Json& rule, bool namespaced, Causes& causes) {
  if (list_at(rule, {"verbs"}).empty()) {
    causes.required(path.child("verbs"), "verbs must contain at least one value");
  }
  const Json& urls = list_at(rule, {"nonResourceURLs"});
  const bool on_resources = !list_at(rule, {"apiGroups"}).empty() ||
                            !list_at(rule, {"resources"}).empty() ||
                            !list_at(rule, {"resourceNames"}).empty();
  if (!urls.empty()) {
    if (namespaced) {
      causes.invalid(path.child("nonResourceURLs"), urls,
                     "namespaced rules cannot apply to non-resource URLs");
    }
    if (on_resources) {
      causes.invalid(path.child("nonResourceURLs"), urls,
                     "rules cannot apply to both regular resources and non-resource URLs");
    }
    return;
  }
  if (list_at(rule, {"apiGroups"}).empty()) {
    causes.required(path.child("apiGroups"), "resource rules must supply at least one api group");
  }
  if (list_at(rule, {"resources"}).empty()) {
    causes.required(path.child("resources"), "resource rules must supply at least one resource");
  }
}

void check_subject(const FieldPath& path, const Json& subject, bool namespaced, Causes& causes) {
  const std::string kind = text_at(subject, {"kind"});
  const std::string name = text_at(subject, {"name"});
  if (name.empty()) causes.required(path.child("name"));
  if (!causes.one_of(path.child("kind"), kind, {"ServiceAccount", "User", "Group"})) return;
  const std::string group = text_at(subject, {"apiGroup"});
  if (kind != "ServiceAccount") {
    causes.one_of(path.child("apiGroup"), group, {"rbac.authorization.k8s.io"});
    return;
  }
  if (!name.empty()) causes.invalid(path.child("name"), name, dns_subdomain_errors(name));
  if (!group.empty()) causes.not_supported(path.child("apiGroup"), group, {""});
  if (!namespaced && text_at(subject, {"namespace"}).empty()) {
    causes.required(path.child("namespace"));
  }
}

}  // namespace

void check_role(const Kind& kind, const Json& role, Causes& causes) {
  const Json& rules = list_at(role, {"rules"});
  for (std::size_t i = 0; i < rules.size(); ++i) {
    check_rule(FieldPath("rules").index(i), rules[i], kind.namespaced, causes);
  }
}

void check_role_binding(const Kind& kind, const Json& binding, Causes& causes) {
  const FieldPath path("roleRef");
  causes.one_of(path.child("apiGroup"), text_at(binding, {"roleRef", "apiGroup"}),
                {"rbac.authorization.k8s.io"});
  const std::string ref = text_at(binding, {"roleRef", "kind"});
  if (kind.namespaced) {
    causes.one_of(path.child("kind"), ref, {"Role", "ClusterRole"});
  } else {
    causes.one_of(path.child("kind"), ref, {"ClusterRole"});
  }
  const std::string name = text_at(binding, {"roleRef", "name"});
  if (name.empty()) {
    causes.required(path.child("name"));
  } else {
    causes.invalid(path.child("name"), name, path_segment_errors(name));
  }
  const Json& subjects = list_at(binding, {"subjects"});
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    check_subject(FieldPath("subjects").index(i), subjects[i], kind.namespaced, causes);
  }
}

void check_role_binding_update(const Json& old, const Json& binding, Causes& causes) {
  const Json& ref = map_at(binding, {"roleRef"});
  if (ref == map_at(old, {"roleRef"})) return;
  const auto shown = [&](std::string_view name) { return Json(text_at(ref, {name})).dump(); };
  causes.invalid_text(FieldPath("roleRef"),
                      R"({"APIGroup":)" + shown("apiGroup") + R"(,"Kind":)" + shown("kind") +
                          R"(,"Name":)" + shown("name") + "}",
                      "cannot change roleRef");
}

}  // namespace amdahl::local

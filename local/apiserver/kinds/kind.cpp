#include "local/apiserver/kinds/kind.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include "base/check.hpp"
#include "local/apiserver/kinds/json_access.hpp"

namespace amdahl::local {

namespace {

struct Parts {
  int stage = 0;  // 3 = v1, 2 = v1beta1, 1 = v1alpha1, 0 = anything else
  std::uint32_t major = 0;
  std::uint32_t minor = 0;
  auto operator<=>(const Parts&) const = default;
};

std::optional<std::uint32_t> take_number(std::string_view& text) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || text.starts_with('0')) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

Parts parts_of(std::string_view version) {
  if (!version.starts_with('v')) return {};
  version.remove_prefix(1);
  const auto major = take_number(version);
  if (!major) return {};
  if (version.empty()) return {.stage = 3, .major = *major};
  int stage = 0;
  if (version.starts_with("beta")) stage = 2;
  if (version.starts_with("alpha")) stage = 1;
  if (stage == 0) return {};
  version.remove_prefix(stage == 2 ? 4 : 5);
  const auto minor = take_number(version);
  if (!minor || !version.empty()) return {};
  return {.stage = stage, .major = *major, .minor = *minor};
}

// The order in which kube-apiserver lists its own groups; others follow by name.
constexpr std::array<std::string_view, 11> kGroupOrder = {
    "apps",
    "events.k8s.io",
    "authentication.k8s.io",
    "authorization.k8s.io",
    "batch",
    "policy",
    "rbac.authorization.k8s.io",
    "apiextensions.k8s.io",
    "scheduling.k8s.io",
    "coordination.k8s.io",
    "discovery.k8s.io",
};

std::size_t group_rank(std::string_view group) {
  return static_cast<std::size_t>(std::ranges::find(kGroupOrder, group) - kGroupOrder.begin());
}

}  // namespace

bool version_before(std::string_view a, std::string_view b) {
  const Parts left = parts_of(a);
  const Parts right = parts_of(b);
  if (left != right) return left > right;
  return a < b;
}

std::string Kind::api_version() const {
  return group.empty() ? version : group + "/" + version;
}

bool Kind::can(std::string_view verb) const {
  return std::ranges::find(verbs, verb) != verbs.end();
}

const Subresource* Kind::subresource(std::string_view name) const {
  const auto found = std::ranges::find(subresources, name, &Subresource::name);
  return found == subresources.end() ? nullptr : &*found;
}

KindTable::KindTable() {
  for (Kind& kind : builtin_kinds()) {
    const auto shared = std::make_shared<const Kind>(std::move(kind));
    kinds_[{shared->group, shared->version, shared->plural}] = shared;
    by_kind_[{shared->group, shared->version, shared->kind}] = shared;
  }
}

KindPtr KindTable::find(std::string_view group, std::string_view version,
                        std::string_view plural) const {
  const auto found = kinds_.find({std::string(group), std::string(version), std::string(plural)});
  return found == kinds_.end() ? nullptr : found->second;
}

KindPtr KindTable::find_kind(std::string_view group, std::string_view version,
                             std::string_view kind) const {
  const auto found = by_kind_.find({std::string(group), std::string(version), std::string(kind)});
  return found == by_kind_.end() ? nullptr : found->second;
}

void KindTable::erase_crd(std::string_view name) {
  const auto belongs = [&](const auto& entry) { return entry.second->crd_name == name; };
  std::erase_if(kinds_, belongs);
  std::erase_if(by_kind_, belongs);
}

Result<void> KindTable::put_crd(const Json& crd) {
  TRY(std::vector<Kind> kinds, crd_kinds(crd));
  if (kinds_.size() + kinds.size() > kKindsMax) {
    return fail(Errc::kTooLarge, "add custom resource definition: more than {} kinds", kKindsMax);
  }
  for (const Kind& kind : kinds) {
    const auto owner = [&](const KindPtr& found) {
      return found != nullptr && found->crd_name != kind.crd_name;
    };
    if (owner(find(kind.group, kind.version, kind.plural)) ||
        owner(find_kind(kind.group, kind.version, kind.kind))) {
      return fail(Errc::kConflict, "add custom resource definition {}: {} {} is already served",
                  kind.crd_name, kind.api_version(), kind.kind);
    }
  }
  erase_crd(text_at(crd, {"metadata", "name"}));
  for (Kind& kind : kinds) {
    const auto shared = std::make_shared<const Kind>(std::move(kind));
    kinds_[{shared->group, shared->version, shared->plural}] = shared;
    by_kind_[{shared->group, shared->version, shared->kind}] = shared;
  }
  ++generation_;
  return {};
}

bool KindTable::remove_crd(std::string_view name) {
  AMDAHL_CHECK(!name.empty());
  const std::size_t before = kinds_.size();
  erase_crd(name);
  if (kinds_.size() == before) return false;
  ++generation_;
  return true;
}

std::vector<KindPtr> KindTable::all() const {
  std::vector<KindPtr> kinds;
  kinds.reserve(kinds_.size());
  for (const auto& [key, kind] : kinds_) kinds.push_back(kind);
  return kinds;
}

std::vector<KindPtr> KindTable::of(std::string_view group, std::string_view version) const {
  std::vector<KindPtr> kinds;
  auto at = kinds_.lower_bound({std::string(group), std::string(version), ""});
  for (; at != kinds_.end() && at->first.group == group && at->first.version == version; ++at) {
    kinds.push_back(at->second);
  }
  return kinds;
}

std::vector<std::string> KindTable::versions(std::string_view group) const {
  std::vector<std::string> versions;
  auto at = kinds_.lower_bound({std::string(group), "", ""});
  for (; at != kinds_.end() && at->first.group == group; ++at) {
    if (versions.empty() || versions.back() != at->first.version) {
      versions.push_back(at->first.version);
    }
  }
  std::ranges::sort(versions, version_before);
  return versions;
}

std::vector<std::string> KindTable::groups() const {
  std::vector<std::string> groups;
  for (const auto& [key, kind] : kinds_) {
    if (key.group.empty()) continue;
    if (groups.empty() || groups.back() != key.group) groups.push_back(key.group);
  }
  // Groups without a rank are by name already, and stay so.
  std::ranges::sort(groups, [](const std::string& a, const std::string& b) {
    return std::pair(group_rank(a), std::string_view(a)) <
           std::pair(group_rank(b), std::string_view(b));
  });
  return groups;
}

}  // namespace amdahl::local

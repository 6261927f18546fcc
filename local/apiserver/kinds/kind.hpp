// What the embedded API server knows about kinds: the built-in ones and those of
// CustomResourceDefinitions.
//
// A Kind is a value, immutable once shared. KindTable: one thread; a KindPtr it hands out stays
// valid (and unchanged) when the table changes later. Failure: adding a bad definition returns the
// error and leaves the table as it was.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace amdahl::local {

using Json = nlohmann::json;

inline constexpr std::size_t kCrdVersionsMax = 32;
inline constexpr std::size_t kPrinterColumnsMax = 64;
inline constexpr std::size_t kKindsMax = 10'000;

struct Subresource {
  std::string name = {};     // "status"
  std::string kind = {};     // of its body: "Pod", "Scale", "Eviction"
  std::string group = {};    // of that body; "" and version "": the resource's own
  std::string version = {};  // "v1"
  std::vector<std::string> verbs = {};
};

struct PrinterColumn {
  std::string name = {};
  std::string type = {};  // integer, number, string, boolean, date
  std::string format = {};
  std::string description = {};
  std::string json_path = {};
  std::int32_t priority = 0;
};

// Where a custom resource's scale subresource finds its numbers; empty: it has none.
struct ScalePaths {
  std::string spec_replicas = {};    // ".spec.replicas"
  std::string status_replicas = {};  // ".status.replicas"
  std::string label_selector = {};   // may stay empty
};

struct Kind {
  std::string group = {};  // "" is the core group
  std::string version = {};
  std::string kind = {};
  std::string list_kind = {};  // "" for kinds that are only created (reviews)
  std::string plural = {};
  std::string singular = {};
  std::vector<std::string> short_names = {};
  std::vector<std::string> categories = {};
  bool namespaced = false;
  bool builtin = false;
  bool has_status = false;
  bool has_scale = false;
  bool has_generation = false;  // metadata.generation counts changes of the desired state
  std::vector<std::string> verbs = {};
  std::vector<Subresource> subresources = {};
  // Field-selector paths besides metadata.name and metadata.namespace.
  std::vector<std::string> field_labels = {};
  std::vector<PrinterColumn> columns = {};  // of a custom resource; built-in ones are in table.hpp
  // The group and version its objects are stored in: events.k8s.io/v1 events live with core events.
  std::string storage_group = {};
  std::string storage_version = {};
  std::string crd_name = {};  // "" for built-in kinds
  ScalePaths scale = {};
  std::shared_ptr<const Json> schema = {};  // openAPIV3Schema of a custom resource's version

  std::string api_version() const;  // "v1", "apps/v1"
  bool can(std::string_view verb) const;
  const Subresource* subresource(std::string_view name) const;  // null: there is none
};
using KindPtr = std::shared_ptr<const Kind>;

// All built-in kinds, in the order of their group, version and plural.
std::vector<Kind> builtin_kinds();

// The kinds that a CustomResourceDefinition serves: one for each served version. The definition is
// expected to have passed validate_create; what would make the kinds ambiguous is refused.
Result<std::vector<Kind>> crd_kinds(const Json& crd);

class KindTable {
 public:
  KindTable();  // with the built-in kinds

  KindPtr find(std::string_view group, std::string_view version, std::string_view plural) const;
  KindPtr find_kind(std::string_view group, std::string_view version, std::string_view kind) const;

  // Adds or replaces the kinds of one CustomResourceDefinition (by its metadata.name).
  Result<void> put_crd(const Json& crd);
  // True if there was one.
  bool remove_crd(std::string_view name);

  // Every kind by group, version and plural.
  std::vector<KindPtr> all() const;
  // The served versions of a group, preferred first; empty: no such group.
  std::vector<std::string> versions(std::string_view group) const;
  // Group names in the order of discovery, without the core group.
  std::vector<std::string> groups() const;
  std::vector<KindPtr> of(std::string_view group, std::string_view version) const;

  // Changes with every change of the table.
  std::uint64_t generation() const { return generation_; }

 private:
  struct Key {
    std::string group = {};
    std::string version = {};
    std::string plural = {};
    auto operator<=>(const Key&) const = default;
  };
  void erase_crd(std::string_view name);

  std::map<Key, KindPtr> kinds_;
  std::map<Key, KindPtr> by_kind_;  // Key::plural holds the kind's name here
  std::uint64_t generation_ = 1;
};

// Orders versions as Kubernetes does: v2, v1, v1beta2, v1beta1, v1alpha1, then others by name.
bool version_before(std::string_view a, std::string_view b);

// Whether a field selector may name the label.
bool field_label_allowed(const Kind& kind, std::string_view label);
// The text a field selector compares: the value at a label that the kind allows ("" if unset).
std::string field_label_value(const Kind& kind, const Json& object, std::string_view label);

}  // namespace amdahl::local

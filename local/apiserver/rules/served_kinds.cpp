#include "local/apiserver/rules/served_kinds.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.hpp"
#include "local/apiserver/core/metadata.hpp"
#include "local/apiserver/kinds/builtin_defaults.hpp"
#include "local/apiserver/kinds/builtin_rules.hpp"
#include "local/apiserver/kinds/decode.hpp"
#include "local/apiserver/kinds/event_conversion.hpp"
#include "local/apiserver/kinds/table.hpp"
#include "local/apiserver/rules/custom_schema.hpp"
#include "local/apiserver/rules/resource_info.hpp"

namespace amdahl::local {
namespace {

std::string place(std::string_view group, std::string_view version, std::string_view plural) {
  std::string text;
  text.reserve(group.size() + version.size() + plural.size() + 2);
  text.append(group).append("/").append(version).append("/").append(plural);
  return text;
}

// ".spec.replicas", as a definition has it, as a pointer.
std::string pointer(std::string_view path) {
  std::string text(path);
  std::ranges::replace(text, '.', '/');
  return text;
}

// Events are kept as those of the core group and selected by the names of both.
std::string label_of_new_events(std::string_view label) {
  constexpr std::string_view kAbout = "involvedObject";
  if (label.starts_with(kAbout)) return "regarding" + std::string(label.substr(kAbout.size()));
  return label == "reportingComponent" ? "reportingController" : "";
}

bool is_crd(const ResourceInfo& info) {
  return info.observed;
}

bool same_schema(const Kind& one, const Kind& other) {
  if (one.has_status != other.has_status || !one.schema || !other.schema) return false;
  return one.schema == other.schema || *one.schema == *other.schema;
}

bool is_stored_version(const Kind& kind) {
  return kind.version == kind.storage_version &&
         (!kind.builtin || kind.group == kind.storage_group);
}

}  // namespace

ServedKinds::ServedKinds(const BuiltinSchemas& schemas, Identities& identities, std::string address)
    : schemas_(schemas), identities_(identities), address_(std::move(address)) {
  rebuild();
}

ServedKinds::ServedKinds(const ServedKinds& like)
    : schemas_(like.schemas_),
      identities_(like.identities_),
      address_(like.address_),
      kinds_(like.kinds_),
      served_(like.served_) {
  rebuild();
}

ServedKinds::Served ServedKinds::make(const KindPtr& kind, const Served* before) const {
  Served served{.kind = kind, .info = resource_info(*kind)};
  if (kind->builtin) {
    served.shape = schemas_.merge_shape(*kind);
    const TypeNode* type = schemas_.type(kind->group, kind->version, kind->kind);
    if (type == nullptr) return served;
    if (auto unset = local::decode(*type, Json::object())) served.unset = unset->object;
    // Definitions are stored as JSON, which keeps empty lists.
    if (!is_crd(served.info)) served.type = type;
    return served;
  }
  if (before != nullptr && same_schema(*before->kind, *kind)) {
    served.schema = before->schema;
    served.shape = before->shape;
    return served;
  }
  served.schema = compile_schema_of(*kind);
  if (served.schema) served.shape = shape_of(*served.schema);
  return served;
}

// In place: the verb that changed a definition still holds the kinds it works on, and a schema that
// did not change is not compiled again.
void ServedKinds::rebuild() {
  std::map<std::string, KindPtr, std::less<>> wanted;
  for (const KindPtr& kind : kinds_.all())
    wanted.emplace(place(kind->group, kind->version, kind->plural), kind);
  std::erase_if(served_, [&](const auto& entry) { return !wanted.contains(entry.first); });
  for (const auto& [at, kind] : wanted) {
    const auto found = served_.find(at);
    if (found == served_.end())
      served_.emplace(at, make(kind, nullptr));
    else if (found->second.kind != kind)
      found->second = make(kind, &found->second);
  }
  kept_in_.clear();
  by_info_.clear();
  for (const auto& [at, one] : served_) {
    by_info_.emplace(&one.info, &one);
    const ResourceInfo*& kept = kept_in_[one.info.storage];
    if (kept == nullptr || is_stored_version(*one.kind)) kept = &one.info;
  }
}

const ServedKinds::Served& ServedKinds::served(const ResourceInfo& info) const {
  // Nearly always it is the one that find() gave out; a verb asks about it ten times.
  if (const auto known = by_info_.find(&info); known != by_info_.end()) return *known->second;
  const auto found = served_.find(place(info.group, info.version, info.plural));
  AMDAHL_CHECK(found != served_.end());
  return found->second;
}

const ResourceInfo* ServedKinds::find(std::string_view group, std::string_view version,
                                      std::string_view plural) const {
  const auto found = served_.find(place(group, version, plural));
  return found == served_.end() ? nullptr : &found->second.info;
}

const ResourceInfo* ServedKinds::find_kind(std::string_view api_version,
                                           std::string_view kind) const {
  const std::size_t slash = api_version.find('/');
  const bool core = slash == std::string_view::npos;
  const KindPtr found = kinds_.find_kind(core ? "" : api_version.substr(0, slash),
                                         core ? api_version : api_version.substr(slash + 1), kind);
  return found ? find(found->group, found->version, found->plural) : nullptr;
}

const ResourceInfo* ServedKinds::find_storage(std::string_view storage) const {
  const auto found = kept_in_.find(storage);
  return found == kept_in_.end() ? nullptr : found->second;
}

void ServedKinds::changed(const ResourceInfo& info, std::string_view name, const Json* object) {
  if (!is_crd(info)) return;
  if (object == nullptr) {
    kinds_.remove_crd(name);
  } else if (const auto put = kinds_.put_crd(*object); !put) {
    return;  // validate() refuses what cannot be served; what is stored stays as it was
  }
  rebuild();
}

Json ServedKinds::convert(const ResourceInfo& to, Json object) const {
  if (to.storage == "events") {
    if (text_at(object, "apiVersion") == to.api_version()) return object;
    return to.group.empty() ? event_to_core(object) : event_to_events_v1(object);
  }
  object["apiVersion"] = to.api_version();
  return object;
}

Outcome<std::vector<std::string>> ServedKinds::decode(const ResourceInfo& info,
                                                      Json& object) const {
  const Served& one = served(info);
  if (one.schema) return decode_custom(*one.schema, object);
  const TypeNode* type = schemas_.type(info.group, info.version, info.kind);
  if (info.custom || type == nullptr) return std::vector<std::string>();
  auto decoded = local::decode(*type, std::move(object));
  if (!decoded)
    return bad_request(fmt::format("{} in version \"{}\" cannot be handled as a {}: {}", info.kind,
                                   info.version, info.kind, decoded.error().context));
  object = std::move(decoded->object);
  std::vector<std::string> texts;
  for (const std::string& path : decoded->unknown_fields)
    texts.push_back(fmt::format("unknown field \"{}\"", path));
  return texts;
}

void ServedKinds::apply_defaults(const ResourceInfo& info, Json& object) const {
  const Served& one = served(info);
  if (one.schema) default_custom(*one.schema, object);
  if (one.kind->builtin) local::apply_defaults(*one.kind, object);
}

void ServedKinds::prepare_create(const ResourceInfo& info, Json& object, WallTime now) const {
  const Served& one = served(info);
  local::prepare_create(*one.kind, object);
  if (one.type != nullptr) forget_empty_lists(*one.type, object);
  if (is_crd(info)) establish_crd(object, format_time(now));
}

void ServedKinds::prepare_update(const ResourceInfo& info, std::string_view subresource,
                                 Json& object, const Json& old) const {
  const Served& one = served(info);
  if (one.type != nullptr) forget_empty_lists(*one.type, object);
  if (subresource == "status")
    prepare_status_update(*one.kind, old, object);
  else
    local::prepare_update(*one.kind, old, object);
}

std::vector<Cause> ServedKinds::validate(const ResourceInfo& info, std::string_view subresource,
                                         const Json& object, const Json* old) const {
  const Served& one = served(info);
  const bool of_status = old != nullptr && subresource == "status";
  std::vector<Cause> causes = old == nullptr ? validate_create(*one.kind, object)
                              : of_status    ? validate_status_update(*one.kind, *old, object)
                                             : validate_update(*one.kind, *old, object);
  if (one.schema) {
    CustomWrite write{
        .scale = one.kind->scale, .object = object, .old = old, .of_metadata = std::move(causes)};
    return of_status ? validate_custom_status(*one.schema, std::move(write))
                     : validate_custom(*one.schema, std::move(write));
  }
  return causes;
}

std::vector<std::string> ServedKinds::warnings(const ResourceInfo& info, const Json& object,
                                               const Json* old) const {
  if (!info.custom) return {};
  return finalizer_warnings(old == nullptr ? Json::object() : *old, object);
}

PackedMap ServedKinds::fields(const ResourceInfo& info, const Json& object) const {
  const Kind& kind = *served(info).kind;
  std::vector<std::string> kept;
  kept.reserve(kind.field_labels.size() * 2);  // the builder keeps views of them
  PackedMap::Builder builder;
  for (const std::string& label : kind.field_labels) {
    const std::string& value = kept.emplace_back(field_label_value(kind, object, label));
    builder.add(label, value);
    if (info.storage == "events")
      if (std::string other = label_of_new_events(label); !other.empty())
        builder.add(kept.emplace_back(std::move(other)), value);
  }
  return builder.build();
}

bool ServedKinds::selectable(const ResourceInfo& info, std::string_view field) const {
  return field_label_allowed(*served(info).kind, field);
}

Json ServedKinds::table_columns(const ResourceInfo& info) const {
  return local::table_columns(*served(info).kind);
}

Json ServedKinds::table_cells(const ResourceInfo& info, const Json& object, WallTime now) const {
  return local::table_cells(*served(info).kind, object, now);
}

std::optional<KindRules::ScalePaths> ServedKinds::scale_paths(const ResourceInfo& info) const {
  if (!info.has_scale) return std::nullopt;
  if (!info.custom)
    return ScalePaths{.spec_replicas = "/spec/replicas",
                      .status_replicas = "/status/replicas",
                      .selector = "/spec/selector"};
  const local::ScalePaths& paths = served(info).kind->scale;
  return ScalePaths{.spec_replicas = pointer(paths.spec_replicas),
                    .status_replicas = pointer(paths.status_replicas),
                    .selector = pointer(paths.label_selector)};
}

}  // namespace amdahl::local

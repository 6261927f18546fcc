// From a CustomResourceDefinition to the kinds it serves; see kind.hpp.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "local/apiserver/kinds/json_access.hpp"
#include "local/apiserver/kinds/kind.hpp"

namespace amdahl::local {

namespace {

const std::vector<std::string> kReadWrite = {"get", "patch", "update"};

std::vector<std::string> texts(const Json& list) {
  std::vector<std::string> texts;
  for (const Json& item : list) {
    if (item.is_string()) texts.push_back(item.get<std::string>());
  }
  return texts;
}

std::string lower(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

std::vector<PrinterColumn> columns_of(const Json& version) {
  std::vector<PrinterColumn> columns;
  for (const Json& column : list_at(version, {"additionalPrinterColumns"})) {
    columns.push_back(
        {.name = text_at(column, {"name"}),
         .type = text_at(column, {"type"}),
         .format = text_at(column, {"format"}),
         .description = text_at(column, {"description"}),
         .json_path = text_at(column, {"jsonPath"}),
         .priority = static_cast<std::int32_t>(number_at(column, {"priority"}).value_or(0))});
  }
  return columns;
}

void add_subresources(Kind& kind, const Json& version) {
  if (at(version, {"subresources", "status"}) != nullptr) {
    kind.has_status = true;
    kind.subresources.push_back({.name = "status", .kind = kind.kind, .verbs = kReadWrite});
  }
  if (at(version, {"subresources", "scale"}) != nullptr) {
    kind.has_scale = true;
    kind.subresources.push_back({.name = "scale",
                                 .kind = "Scale",
                                 .group = "autoscaling",
                                 .version = "v1",
                                 .verbs = kReadWrite});
    const Json& scale = map_at(version, {"subresources", "scale"});
    kind.scale = {.spec_replicas = text_at(scale, {"specReplicasPath"}),
                  .status_replicas = text_at(scale, {"statusReplicasPath"}),
                  .label_selector = text_at(scale, {"labelSelectorPath"})};
  }
}

Kind names_of(const Json& crd) {
  const Json& names = map_at(crd, {"spec", "names"});
  Kind kind{
      .group = text_at(crd, {"spec", "group"}),
      .kind = text_at(names, {"kind"}),
      .list_kind = text_at(names, {"listKind"}),
      .plural = text_at(names, {"plural"}),
      .singular = text_at(names, {"singular"}),
      .short_names = texts(list_at(names, {"shortNames"})),
      .categories = texts(list_at(names, {"categories"})),
      .namespaced = text_at(crd, {"spec", "scope"}) == "Namespaced",
      .has_generation = true,
      .verbs = {"delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"},
      .crd_name = text_at(crd, {"metadata", "name"})};
  if (kind.list_kind.empty()) kind.list_kind = kind.kind + "List";
  if (kind.singular.empty()) kind.singular = lower(kind.kind);
  if (at(crd, {"metadata", "deletionTimestamp"}) != nullptr) {
    kind.verbs = {"delete", "deletecollection", "get", "list", "watch"};
  }
  return kind;
}

Kind version_of(const Kind& names, const Json& version) {
  Kind kind = names;
  kind.version = text_at(version, {"name"});
  kind.columns = columns_of(version);
  add_subresources(kind, version);
  for (const Json& field : list_at(version, {"selectableFields"})) {
    std::string path = text_at(field, {"jsonPath"});
    if (path.starts_with('.')) path.erase(0, 1);
    kind.field_labels.push_back(std::move(path));
  }
  if (const Json* schema = at(version, {"schema", "openAPIV3Schema"}); schema != nullptr) {
    kind.schema = std::make_shared<const Json>(*schema);
  }
  return kind;
}

Result<std::string> storage_version(const Json& versions, const std::string& crd_name) {
  std::string storage;
  for (const Json& version : versions) {
    if (!flag_at(version, {"storage"})) continue;
    if (!storage.empty()) {
      return fail(Errc::kInvalid, "custom resource definition {}: two storage versions", crd_name);
    }
    storage = text_at(version, {"name"});
  }
  if (storage.empty()) {
    return fail(Errc::kInvalid, "custom resource definition {}: no storage version", crd_name);
  }
  return storage;
}

}  // namespace

Result<std::vector<Kind>> crd_kinds(const Json& crd) {
  const Kind names = names_of(crd);
  if (names.crd_name.empty() || names.crd_name != names.plural + "." + names.group) {
    return fail(Errc::kInvalid, "custom resource definition {}: its name must be {}.{}",
                names.crd_name, names.plural, names.group);
  }
  if (names.kind.empty()) {
    return fail(Errc::kInvalid, "custom resource definition {}: no kind", names.crd_name);
  }
  if (flag_at(crd, {"spec", "preserveUnknownFields"})) {
    return fail(Errc::kInvalid, "custom resource definition {}: preserveUnknownFields is refused",
                names.crd_name);
  }
  const Json& versions = list_at(crd, {"spec", "versions"});
  if (versions.size() > kCrdVersionsMax) {
    return fail(Errc::kTooLarge, "custom resource definition {}: more than {} versions",
                names.crd_name, kCrdVersionsMax);
  }
  TRY(const std::string storage, storage_version(versions, names.crd_name));
  std::vector<Kind> kinds;
  for (const Json& version : versions) {
    if (!flag_at(version, {"served"})) continue;
    if (list_at(version, {"additionalPrinterColumns"}).size() > kPrinterColumnsMax) {
      return fail(Errc::kTooLarge, "custom resource definition {}: more than {} printer columns",
                  names.crd_name, kPrinterColumnsMax);
    }
    Kind kind = version_of(names, version);
    const bool twice = std::ranges::find(kinds, kind.version, &Kind::version) != kinds.end();
    if (kind.version.empty() || twice) {
      return fail(Errc::kInvalid, "custom resource definition {}: version name \"{}\"",
                  names.crd_name, kind.version);
    }
    kind.storage_group = kind.group;
    kind.storage_version = storage;
    kinds.push_back(std::move(kind));
  }
  return kinds;
}

}  // namespace amdahl::local

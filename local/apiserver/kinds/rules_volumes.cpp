// Rules of a pod's volumes; see rules.hpp.
#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include "local/apiserver/kinds/json_access.hpp"
#include "local/apiserver/kinds/names.hpp"
#include "local/apiserver/kinds/rules.hpp"

namespace amdahl::local {

namespace {

constexpr std::int64_t kFileModeMax = 0777;

void check_mode(const FieldPath& path, const Json& source, std::string_view name, Causes& causes) {
  const auto mode = number_at(source, {name});
  if (mode && (*mode < 0 || *mode > kFileModeMax)) {
    causes.invalid(path.child(name), *mode,
                   "must be a number between 0 and 0777 (octal), both inclusive");
  }
}

void check_relative(const FieldPath& path, const std::string& text, Causes& causes) {
  if (text.empty()) return causes.required(path);
  if (text.starts_with('/')) causes.invalid(path, text, "must be a relative path");
  if (leads_up(text)) causes.invalid(path, text, "must not contain '..'");
}

void check_items(const FieldPath& path, const Json& source, Causes& causes) {
  const Json& items = list_at(source, {"items"});
  for (std::size_t i = 0; i < items.size(); ++i) {
    const FieldPath at_item = path.child("items").index(i);
    if (text_at(items[i], {"key"}).empty()) causes.required(at_item.child("key"));
    check_relative(at_item.child("path"), text_at(items[i], {"path"}), causes);
    check_mode(at_item, items[i], "mode", causes);
  }
}

void check_named(const FieldPath& path, const Json& source, std::string_view name, Causes& causes) {
  if (text_at(source, {name}).empty()) causes.required(path.child(name));
  check_mode(path, source, "defaultMode", causes);
  check_items(path, source, causes);
}

void check_host_path(const FieldPath& path, const Json& source, Causes& causes) {
  const std::string text = text_at(source, {"path"});
  if (text.empty()) return causes.required(path.child("path"));
  if (leads_up(text)) causes.invalid(path.child("path"), text, "must not contain '..'");
  causes.one_of(path.child("type"), text_at(source, {"type"}),
                {"", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File",
                 "FileOrCreate", "Socket"});
}

void check_projected(const FieldPath& path, const Json& source, bool has_account, Causes& causes) {
  check_mode(path, source, "defaultMode", causes);
  const Json& sources = list_at(source, {"sources"});
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const Json* token = member(sources[i], "serviceAccountToken");
    if (token == nullptr) continue;
    if (text_at(*token, {"path"}).empty()) causes.required(path.child("path"));
    if (!has_account) {
      causes.forbidden(path.child("sources").index(i).child("serviceAccountToken"),
                       "must not be specified when serviceAccountName is not set");
    }
  }
}

void check_source(const FieldPath& path, std::string_view type, const Json& source,
                  bool has_account, Causes& causes) {
  if (type == "secret") check_named(path, source, "secretName", causes);
  if (type == "configMap") check_named(path, source, "name", causes);
  if (type == "hostPath") check_host_path(path, source, causes);
  if (type == "projected") check_projected(path, source, has_account, causes);
  if (type == "downwardAPI") check_mode(path, source, "defaultMode", causes);
  if (type == "persistentVolumeClaim" && text_at(source, {"claimName"}).empty()) {
    causes.required(path.child("claimName"));
  }
  if (type == "emptyDir" && text_at(source, {"sizeLimit"}).starts_with('-')) {
    causes.forbidden(path.child("sizeLimit"), "SizeLimit field must be a valid resource quantity");
  }
}

// The order in which Kubernetes looks at them: the first one found is the volume's type.
constexpr std::array<std::string_view, 30> kTypes = {"emptyDir",
                                                     "hostPath",
                                                     "gitRepo",
                                                     "gcePersistentDisk",
                                                     "awsElasticBlockStore",
                                                     "secret",
                                                     "nfs",
                                                     "iscsi",
                                                     "glusterfs",
                                                     "flocker",
                                                     "rbd",
                                                     "cinder",
                                                     "cephfs",
                                                     "quobyte",
                                                     "downwardAPI",
                                                     "fc",
                                                     "flexVolume",
                                                     "configMap",
                                                     "azureFile",
                                                     "vsphereVolume",
                                                     "photonPersistentDisk",
                                                     "portworxVolume",
                                                     "azureDisk",
                                                     "storageos",
                                                     "projected",
                                                     "scaleIO",
                                                     "csi",
                                                     "ephemeral",
                                                     "image",
                                                     "persistentVolumeClaim"};

}  // namespace

bool leads_up(std::string_view path) {
  while (!path.empty()) {
    const std::size_t slash = std::min(path.find('/'), path.size());
    if (path.substr(0, slash) == "..") return true;
    path.remove_prefix(std::min(slash + 1, path.size()));
  }
  return false;
}

void check_volumes(const FieldPath& spec_path, const Json& spec, Causes& causes) {
  std::set<std::string> names;
  const bool has_account = !text_at(spec, {"serviceAccountName"}).empty();
  const Json& volumes = list_at(spec, {"volumes"});
  for (std::size_t i = 0; i < volumes.size(); ++i) {
    const FieldPath path = spec_path.child("volumes").index(i);
    int types = 0;
    for (const std::string_view type : kTypes) {
      const Json* source = member(volumes[i], type);
      if (source == nullptr) continue;
      if (types++ > 0) {
        causes.forbidden(path.child(type), "may not specify more than 1 volume type");
      } else {
        check_source(path.child(type), type, *source, has_account, causes);
      }
    }
    if (types == 0) causes.required(path, "must specify a volume type");
    const std::string name = text_at(volumes[i], {"name"});
    if (name.empty()) {
      causes.required(path.child("name"));
    } else {
      causes.invalid(path.child("name"), name, dns_label_errors(name));
      if (!names.insert(name).second) causes.duplicate(path.child("name"), name);
    }
  }
}

}  // namespace amdahl::local

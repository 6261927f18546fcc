#include "local/kubelet/volume_files.hpp"

#include <filesystem>

namespace amdahl::local {
namespace {

constexpr std::int32_t kModeDefault = 0644;

struct Collector {
  const Pod& pod;
  const Sources& sources;
  const CommandFacts& facts;
  std::int32_t mode = kModeDefault;
  VolumeFiles files = {};

  Result<void> put(const std::string& path, std::string bytes, std::int32_t file_mode) {
    if (!is_safe_path(path)) return fail(Errc::kInvalid, "path {} leaves the volume", path);
    files[path] = {.bytes = std::move(bytes), .mode = static_cast<std::uint32_t>(file_mode)};
    return {};
  }

  Result<void> add_map(std::string_view kind, const std::map<std::string, Bytes>& from,
                       const std::string& name, const MapFiles& want) {
    const auto found = from.find(name);
    if (found == from.end()) {
      if (want.optional) return {};
      return fail(Errc::kInvalid, "{} \"{}\" not found", kind, name);
    }
    if (want.items.empty())
      for (const auto& [key, bytes] : found->second) TRY(put(key, bytes, mode));
    for (const KeyPath& item : want.items) {
      const auto bytes = found->second.find(item.key);
      if (bytes != found->second.end())
        TRY(put(item.path, bytes->second, item.mode.value_or(mode)));
      else if (!want.optional)
        return fail(Errc::kInvalid, "couldn't find key {} in {} {}/{}", item.key, kind,
                    pod.metadata.ns, name);
    }
    return {};
  }

  Result<void> add_downward(const DownwardFiles& want) {
    for (const DownwardFile& item : want.items) {
      std::string bytes;
      if (item.field) {
        TRY(bytes, field_value(pod, facts.address, item.field->path));
      }
      if (item.resource) {
        TRY(bytes, resource_value(pod, {}, facts.node, *item.resource));
      }
      TRY(put(item.path, std::move(bytes), item.mode.value_or(mode)));
    }
    return {};
  }

  Result<void> add_token(const TokenFile& want) {
    const auto token = sources.tokens.find(want.audience);
    if (token == sources.tokens.end())
      return fail(Errc::kInvalid, "no token for service account {}", pod.spec.service_account);
    constexpr std::int32_t kOwnerOnly = 0600;
    return put(want.path, token->second, kOwnerOnly);
  }

  Result<void> add_part(const VolumePart& part) {
    if (part.config_map)
      TRY(add_map("configmap", sources.config_maps, part.config_map->name, *part.config_map));
    if (part.secret) TRY(add_map("secret", sources.secrets, part.secret->name, *part.secret));
    if (part.downward) TRY(add_downward(*part.downward));
    if (part.token) TRY(add_token(*part.token));
    return {};
  }

  Result<void> add(const Volume& volume) {
    if (volume.config_map) {
      mode = volume.config_map->mode.value_or(kModeDefault);
      return add_map("configmap", sources.config_maps, volume.config_map->name, *volume.config_map);
    }
    if (volume.secret) {
      mode = volume.secret->mode.value_or(kModeDefault);
      return add_map("secret", sources.secrets, volume.secret->secret_name, *volume.secret);
    }
    if (volume.downward) {
      mode = volume.downward->mode.value_or(kModeDefault);
      return add_downward(*volume.downward);
    }
    if (volume.projected) {
      mode = volume.projected->mode.value_or(kModeDefault);
      for (const VolumePart& part : volume.projected->sources) TRY(add_part(part));
      return {};
    }
    if (volume.empty_dir || volume.host_path) return {};
    return fail(Errc::kInvalid,
                "its type is not supported here; use emptyDir, configMap, secret, projected, "
                "downwardAPI or hostPath");
  }
};

}  // namespace

bool is_safe_path(std::string_view path) {
  const std::filesystem::path parts(path);
  if (path.empty() || parts.is_absolute()) return false;
  for (const auto& part : parts)
    if (part == "..") return false;
  return true;
}

Result<VolumeFiles> volume_files(const Pod& pod, const Volume& volume, const Sources& sources,
                                 const CommandFacts& facts) {
  Collector collector{.pod = pod, .sources = sources, .facts = facts};
  if (auto added = collector.add(volume); !added)
    return wrap(std::move(added).error(), "volume \"{}\"", volume.name);
  return std::move(collector.files);
}

}  // namespace amdahl::local

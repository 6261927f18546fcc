#include "operator/kube/kubeconfig_entry.hpp"

#include <filesystem>

#include "operator/kube/base64.hpp"

namespace amdahl::kube {

const YamlNode* KubeconfigEntry::value(std::string_view field) const {
  const YamlNode* found = node_->find(field);
  return found == nullptr || found->kind == YamlKind::kNull ? nullptr : found;
}

bool KubeconfigEntry::has(std::string_view field) const {
  const YamlNode* found = value(field);
  if (found == nullptr) return false;
  return found->kind == YamlKind::kScalar ? !found->text.empty() : !found->items.empty();
}

std::unexpected<Error> KubeconfigEntry::refuse(std::string_view field, std::string_view why) const {
  const YamlNode* found = node_->find(field);
  const YamlNode& place = found == nullptr ? *node_ : *found;
  return fail(Errc::kInvalid, "{}:{}:{}: {}: {}: {}", file_->path, place.line, place.column, what_,
              field, why);
}

Result<std::string> KubeconfigEntry::text(std::string_view field) const {
  const YamlNode* found = value(field);
  if (found == nullptr) return std::string();
  if (found->kind != YamlKind::kScalar)
    return refuse(field, fmt::format("expected text, found {}", name(found->kind)));
  return found->text;
}

Result<bool> KubeconfigEntry::flag(std::string_view field) const {
  TRY(auto word, text(field));
  if (word.empty() || word == "false") return false;
  if (word == "true") return true;
  return refuse(field, "expected true or false");
}

Result<std::vector<std::string>> KubeconfigEntry::list_of(const YamlNode& list,
                                                          std::string_view field) const {
  std::vector<std::string> texts;
  if (list.kind != YamlKind::kSequence)
    return refuse(field, fmt::format("expected a list, found {}", name(list.kind)));
  for (const YamlNode& item : list.items) {
    if (item.kind != YamlKind::kScalar)
      return refuse(field,
                    fmt::format("expected a list of texts, found {} in it", name(item.kind)));
    texts.push_back(item.text);
  }
  return texts;
}

Result<std::vector<std::string>> KubeconfigEntry::texts(std::string_view field) const {
  const YamlNode* found = value(field);
  if (found == nullptr) return std::vector<std::string>();
  return list_of(*found, field);
}

Result<std::map<std::string, std::vector<std::string>>> KubeconfigEntry::text_lists(
    std::string_view field) const {
  std::map<std::string, std::vector<std::string>> lists;
  const YamlNode* found = value(field);
  if (found == nullptr) return lists;
  if (found->kind != YamlKind::kMap)
    return refuse(field, fmt::format("expected a map, found {}", name(found->kind)));
  for (std::size_t i = 0; i < found->keys.size(); ++i) {
    TRY(lists[found->keys[i]], list_of(found->items[i], field));
  }
  return lists;
}

Result<std::vector<KubeconfigEntry>> KubeconfigEntry::entries(std::string_view field) const {
  std::vector<KubeconfigEntry> entries;
  const YamlNode* found = value(field);
  if (found == nullptr) return entries;
  if (found->kind != YamlKind::kSequence)
    return refuse(field, fmt::format("expected a list, found {}", name(found->kind)));
  for (const YamlNode& item : found->items) {
    if (item.kind != YamlKind::kMap)
      return refuse(field, fmt::format("expected a list of maps, found {} in it", name(item.kind)));
    entries.emplace_back(item, *file_, what_ + " " + std::string(field));
  }
  return entries;
}

Result<KubeconfigEntry> KubeconfigEntry::entry(std::string_view field) const {
  const YamlNode* found = value(field);
  static const YamlNode empty_map{.kind = YamlKind::kMap};
  if (found == nullptr) return KubeconfigEntry(empty_map, *file_, what_);
  if (found->kind != YamlKind::kMap)
    return refuse(field, fmt::format("expected a map, found {}", name(found->kind)));
  return KubeconfigEntry(*found, *file_, what_);
}

std::string KubeconfigEntry::resolve(const std::string& path) const {
  const std::filesystem::path given(path);
  if (path.empty() || given.is_absolute()) return path;
  const auto directory = std::filesystem::path(file_->path).parent_path();
  return (directory / given).lexically_normal().string();
}

Result<std::string> KubeconfigEntry::path(std::string_view field) const {
  TRY(auto given, text(field));
  return resolve(given);
}

Result<PemSource> KubeconfigEntry::pem(std::string_view field) const {
  const std::string data_field = std::string(field) + "-data";
  PemSource source;
  TRY(source.file, path(field));
  TRY(auto encoded, text(data_field));
  if (encoded.empty()) return source;
  auto decoded = base64_decode(encoded);
  if (!decoded) return refuse(data_field, "not base64");
  source.data = std::move(*decoded);
  source.file.clear();
  return source;
}

}  // namespace amdahl::kube

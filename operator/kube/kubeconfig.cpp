#include "operator/kube/kubeconfig.hpp"

#include <algorithm>
#include <list>
#include <map>
#include <ranges>

#include "operator/kube/kubeconfig_entry.hpp"

namespace amdahl::kube {
namespace {

using Entries = std::map<std::string, KubeconfigEntry, std::less<>>;

struct Merged {
  std::list<YamlNode> documents = {};  // a list, because the entries point into it
  Entries clusters = {};
  Entries users = {};
  Entries contexts = {};
  std::string current_context = {};
};

std::string join_paths(std::span<const KubeconfigFile> files) {
  return fmt::format("{}", fmt::join(files | std::views::transform(&KubeconfigFile::path), ", "));
}

// "clusters: [{name: a, cluster: {...}}]"; the first file that has a name keeps it.
Result<void> merge_entries(const KubeconfigEntry& root, const std::string& field, Entries& into) {
  const std::string singular = field.substr(0, field.size() - 1);
  TRY(auto items, root.entries(field));
  std::vector<std::string> names_here;
  for (const KubeconfigEntry& item : items) {
    TRY(auto entry_name, item.text("name"));
    if (entry_name.empty()) return item.refuse("name", "missing");
    if (std::ranges::find(names_here, entry_name) != names_here.end())
      return item.refuse("name", fmt::format("\"{}\" is there twice", entry_name));
    names_here.push_back(entry_name);
    TRY(auto body, item.entry(singular));
    into.try_emplace(entry_name, body.node(), root.source(), singular + " " + entry_name);
  }
  return {};
}

Result<void> merge_file(const KubeconfigFile& file, Merged& merged) {
  TRY(auto document, parse_yaml(file.text, file.path, {.bytes_max = kKubeconfigBytesMax}));
  if (document.kind == YamlKind::kNull) return {};  // an empty file is an empty configuration
  if (document.kind != YamlKind::kMap)
    return fail(Errc::kInvalid, "{}: not a kubeconfig: expected a map, found {}", file.path,
                name(document.kind));
  merged.documents.push_back(std::move(document));
  const KubeconfigEntry root(merged.documents.back(), file, "kubeconfig");
  TRY(auto kind, root.text("kind"));
  TRY(auto version, root.text("apiVersion"));
  if (!kind.empty() && kind != "Config") return root.refuse("kind", "expected Config");
  if (!version.empty() && version != "v1") return root.refuse("apiVersion", "expected v1");
  TRY(merge_entries(root, "clusters", merged.clusters));
  TRY(merge_entries(root, "users", merged.users));
  TRY(merge_entries(root, "contexts", merged.contexts));
  TRY(auto current, root.text("current-context"));
  if (merged.current_context.empty()) merged.current_context = current;
  return {};
}

Result<const KubeconfigEntry*> pick(const Entries& entries, std::string_view name,
                                    std::string_view kind, const std::string& where) {
  const auto found = entries.find(name);
  if (found != entries.end()) return &found->second;
  const std::string known =
      entries.empty() ? "none" : fmt::format("{}", fmt::join(entries | std::views::keys, ", "));
  return fail(Errc::kInvalid, "{}: there is no {} \"{}\"; known: {}", where, kind, name, known);
}

Result<std::string> chosen_context(const Merged& merged, std::string_view wanted,
                                   const std::string& where) {
  if (!wanted.empty()) return std::string(wanted);
  if (!merged.current_context.empty()) return merged.current_context;
  const std::string known =
      merged.contexts.empty()
          ? "none"
          : fmt::format("{}", fmt::join(merged.contexts | std::views::keys, ", "));
  return fail(Errc::kInvalid,
              "{}: current-context is not set; give --context, or run 'kubectl config use-context "
              "NAME'; known: {}",
              where, known);
}

}  // namespace

Result<Config> merge_kubeconfig(std::span<const KubeconfigFile> files, std::string_view context) {
  const std::string where = join_paths(files);
  Merged merged;
  for (const KubeconfigFile& file : files) TRY(merge_file(file, merged));
  TRY(auto context_name, chosen_context(merged, context, where));
  TRY(const KubeconfigEntry* chosen, pick(merged.contexts, context_name, "context", where));
  TRY(auto cluster_name, chosen->text("cluster"));
  TRY(auto user_name, chosen->text("user"));
  TRY(auto ns, chosen->text("namespace"));
  TRY(const KubeconfigEntry* cluster, pick(merged.clusters, cluster_name, "cluster", where));

  Config config;
  config.source = fmt::format("context {} of {}", context_name, chosen->file());
  if (!ns.empty()) config.ns = ns;
  TRY(decode_cluster(*cluster, config));
  if (!user_name.empty()) {
    TRY(const KubeconfigEntry* user, pick(merged.users, user_name, "user", where));
    TRY(decode_user(*user, config));
  }
  if (auto* exec = std::get_if<ExecSpec>(&config.auth)) TRY(decode_exec_extension(*cluster, *exec));
  return config;
}

Result<Config> load_kubeconfig(const std::vector<std::string>& paths, std::string_view context,
                               const Environment& environment) {
  if (paths.size() > kKubeconfigFilesMax)
    return fail(Errc::kTooLarge, "KUBECONFIG lists {} files; at most {} are read", paths.size(),
                kKubeconfigFilesMax);
  std::vector<KubeconfigFile> files;
  for (const std::string& path : paths) {
    auto text = environment.read_file(path, kKubeconfigBytesMax);
    if (text) files.push_back({.path = path, .text = std::move(*text)});
    if (!text && text.error().code != Errc::kNotFound)
      return std::unexpected(std::move(text).error());
  }
  if (files.empty())
    return fail(Errc::kNotFound, "kubeconfig {} does not exist", fmt::join(paths, ", "));
  return merge_kubeconfig(files, context);
}

std::vector<std::string> split_path_list(std::string_view list) {
  std::vector<std::string> paths;
  for (const auto part : std::views::split(list, ':')) {
    const std::string_view path(part.begin(), part.end());
    if (!path.empty() && std::ranges::find(paths, path) == paths.end()) paths.emplace_back(path);
  }
  return paths;
}

}  // namespace amdahl::kube

#include "cli/resource_names.hpp"

#include <algorithm>
#include <optional>
#include <ranges>

namespace amdahl::cli {
namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

struct Word {
  std::string name = {};
  std::string group = {};  // empty: any
};

Word split(const std::string& word) {
  const std::size_t dot = word.find('.');
  if (dot == std::string::npos) return {.name = lower(word)};
  return {.name = lower(word.substr(0, dot)), .group = word.substr(dot + 1)};
}

bool answers_to(const kube::ApiResource& resource, const std::string& name) {
  if (resource.name.contains('/')) return false;
  return resource.name == name || resource.singular == name || lower(resource.kind) == name ||
         std::ranges::find(resource.short_names, name) != resource.short_names.end();
}

// "apps", or "v1.apps" as kubectl writes it too.
bool group_fits(const Word& word, const std::string& group, const std::string& version) {
  return word.group.empty() || word.group == group || word.group == version + "." + group ||
         (group.empty() && word.group == version);
}

std::optional<kube::Resource> match(const kube::ApiResourceList& list, const Word& word,
                                    const std::string& group, const std::string& version) {
  const auto found = std::ranges::find_if(
      list.resources, [&](const auto& resource) { return answers_to(resource, word.name); });
  if (found == list.resources.end()) return std::nullopt;
  return kube::Resource{.group = group,
                        .version = version,
                        .plural = found->name,
                        .kind = found->kind,
                        .namespaced = found->namespaced};
}

}  // namespace

Task<Result<kube::Resource>> find_resource(kube::Discovery& discovery, std::string word) {
  const Word wanted = split(word);
  CO_TRY(auto groups, co_await discovery.groups());
  groups.insert(groups.begin(),
                {.name = "", .versions = {{.group_version = "v1", .version = "v1"}}});
  std::string problem;  // of a group whose own server is down; the others may know the word
  for (const kube::ApiGroup& group : groups) {
    for (const kube::GroupVersion& served : group.versions) {
      if (!group_fits(wanted, group.name, served.version)) continue;
      const auto list = co_await discovery.resources(group.name, served.version);
      if (!list && list.error().code == Errc::kCancelled)
        co_return std::unexpected<Error>(list.error());
      if (!list) problem = "; " + list.error().context;
      auto found = list ? match(*list, wanted, group.name, served.version) : std::nullopt;
      if (found) co_return *std::move(found);
    }
  }
  co_return fail(Errc::kNotFound,
                 "the server has no kind that is called \"{}\"; 'kubectl api-resources' lists what "
                 "it has{}",
                 word, problem);
}

std::string kind_word(const kube::Resource& resource) {
  return lower(resource.kind) + (resource.group.empty() ? "" : "." + resource.group);
}

Result<std::vector<Target>> parse_targets(const std::vector<std::string>& words) {
  std::vector<Target> targets;
  const bool pairs = !words.empty() && words.front().contains('/');
  if (pairs) {
    for (const std::string& word : words) {
      const std::size_t slash = word.find('/');
      if (slash == std::string::npos || slash == 0 || slash + 1 == word.size())
        return fail(Errc::kInvalid, "\"{}\": after a TYPE/NAME only others may follow", word);
      targets.push_back({.type = word.substr(0, slash), .names = {word.substr(slash + 1)}});
    }
    return targets;
  }
  if (words.empty()) return fail(Errc::kInvalid, "name a kind: pods, services, ...");
  for (const auto part : std::views::split(words.front(), ','))
    if (const std::string_view type(part.begin(), part.end()); !type.empty())
      targets.push_back({.type = std::string(type)});
  const std::vector<std::string> names(words.begin() + 1, words.end());
  if (targets.empty()) return fail(Errc::kInvalid, "name a kind: pods, services, ...");
  if (targets.size() > 1 && !names.empty())
    return fail(Errc::kInvalid, "names need a single kind; write TYPE/NAME for several");
  for (const std::string& name : names)
    if (name.contains('/')) return fail(Errc::kInvalid, "\"{}\" is no name of an object", name);
  targets.front().names = names;
  return targets;
}

}  // namespace amdahl::cli

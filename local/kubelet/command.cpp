#include "local/kubelet/command.hpp"

#include <algorithm>

#include "local/kubelet/expand.hpp"

namespace amdahl::local {
namespace {

// Arguments and variables of a process; the kernel's own limit is of this order.
constexpr std::size_t kCommandBytesMax = std::size_t{2} << 20U;

class Environment {
 public:
  void set(std::string_view name, std::string value) {
    const auto found = std::ranges::find(variables_, name, &Variables::value_type::first);
    if (found != variables_.end())
      found->second = std::move(value);
    else
      variables_.emplace_back(name, std::move(value));
  }
  void set_all(const Variables& variables) {
    for (const auto& [name, value] : variables) set(name, value);
  }
  Result<std::string> expanded(std::string_view text) const {
    const auto find = [this](std::string_view name) -> std::optional<std::string_view> {
      const auto found = std::ranges::find(variables_, name, &Variables::value_type::first);
      if (found == variables_.end()) return std::nullopt;
      return found->second;
    };
    std::string result = expand(text, find);
    // What is as long as it was written is the kernel's business.
    if (result.size() > std::max(kExpandedBytesMax, text.size()))
      return fail(Errc::kInvalid, "expands to more than {} KiB, which no process can be given",
                  kExpandedBytesMax >> 10U);
    return result;
  }
  std::size_t bytes() const {
    std::size_t sum = 0;
    for (const auto& [name, value] : variables_) sum += name.size() + value.size();
    return sum;
  }
  Variables take() { return std::move(variables_); }

 private:
  Variables variables_;
};

using DataByName = std::map<std::string, Bytes>;

struct Maker {
  const Pod& pod;
  const Container& container;
  const Sources& sources;
  const CommandFacts& facts;
  Environment environment = {};

  Result<void> import_all(std::string_view kind, const DataByName& from, const KeyRef& ref,
                          std::string_view prefix) {
    const auto found = from.find(ref.name);
    if (found == from.end()) {
      if (ref.optional) return {};
      return fail(Errc::kInvalid, "{} \"{}\" not found", kind, ref.name);
    }
    for (const auto& [key, value] : found->second)
      if (!key.contains('=') && !value.contains('\0'))
        environment.set(fmt::format("{}{}", prefix, key), value);
    return {};
  }

  Result<std::optional<std::string>> one_of(std::string_view kind, const DataByName& from,
                                            const KeyRef& ref) const {
    const auto found = from.find(ref.name);
    if (found == from.end()) {
      if (ref.optional) return std::nullopt;
      return fail(Errc::kInvalid, "{} \"{}\" not found", kind, ref.name);
    }
    const auto value = found->second.find(ref.key);
    if (value != found->second.end()) return value->second;
    if (ref.optional) return std::nullopt;
    return fail(Errc::kInvalid, "couldn't find key {} in {} {}/{}", ref.key,
                kind == "secret" ? "Secret" : "ConfigMap", pod.metadata.ns, ref.name);
  }

  Result<std::optional<std::string>> value_of(const EnvVar& variable) const {
    if (!variable.from) {
      TRY(std::string value, environment.expanded(variable.value));
      return value;
    }
    const EnvSource& from = *variable.from;
    if (from.config_map) return one_of("configmap", sources.config_maps, *from.config_map);
    if (from.secret) return one_of("secret", sources.secrets, *from.secret);
    if (from.field) {
      TRY(std::string value, field_value(pod, facts.address, from.field->path));
      return value;
    }
    if (from.resource) {
      TRY(std::string value, resource_value(pod, container, facts.node, *from.resource));
      return value;
    }
    return std::string();
  }

  Result<void> make_environment() {
    environment.set_all(facts.before);
    for (const EnvFrom& from : container.env_from) {
      if (from.config_map)
        TRY(import_all("configmap", sources.config_maps, *from.config_map, from.prefix));
      if (from.secret) TRY(import_all("secret", sources.secrets, *from.secret, from.prefix));
    }
    for (const EnvVar& variable : container.env) {
      auto value = value_of(variable);
      if (!value) return wrap(std::move(value).error(), "env {}", variable.name);
      if (*value) environment.set(variable.name, **value);
      if (environment.bytes() > kCommandBytesMax)
        return fail(Errc::kInvalid, "env {}: all variables are larger than {} KiB", variable.name,
                    kCommandBytesMax >> 10U);
    }
    environment.set_all(facts.after);
    return {};
  }
};

void note(const EnvSource& source, SourceNames& names) {
  if (source.config_map) names.config_maps.insert(source.config_map->name);
  if (source.secret) names.secrets.insert(source.secret->name);
}

void note(const Container& container, SourceNames& names) {
  for (const EnvFrom& from : container.env_from) {
    if (from.config_map) names.config_maps.insert(from.config_map->name);
    if (from.secret) names.secrets.insert(from.secret->name);
  }
  for (const EnvVar& variable : container.env)
    if (variable.from) note(*variable.from, names);
}

void note(const Volume& volume, SourceNames& names) {
  if (volume.config_map) names.config_maps.insert(volume.config_map->name);
  if (volume.secret) names.secrets.insert(volume.secret->secret_name);
  if (!volume.projected) return;
  for (const VolumePart& part : volume.projected->sources) {
    if (part.config_map) names.config_maps.insert(part.config_map->name);
    if (part.secret) names.secrets.insert(part.secret->name);
    if (part.token) names.token_seconds[part.token->audience] = part.token->seconds;
  }
}

}  // namespace

SourceNames referenced(const Pod& pod) {
  SourceNames names;
  for (const Container& container : pod.spec.init_containers) note(container, names);
  for (const Container& container : pod.spec.containers) note(container, names);
  for (const Volume& volume : pod.spec.volumes) note(volume, names);
  return names;
}

Result<Command> make_command(const Pod& pod, const Container& container, const Sources& sources,
                             const CommandFacts& facts) {
  if (container.command.empty())
    return fail(Errc::kTerminal,
                "container {} has no command, and there is no image here to take one from: "
                "set its command",
                container.name);
  Maker maker{.pod = pod, .container = container, .sources = sources, .facts = facts};
  TRY(maker.make_environment());
  Command command;
  std::size_t bytes = maker.environment.bytes();
  for (const auto* words : {&container.command, &container.args})
    for (const std::string& text : *words) {
      auto word = maker.environment.expanded(text);
      if (!word) return wrap(std::move(word).error(), "argument {}", command.arguments.size());
      bytes += word->size();
      if (bytes > kCommandBytesMax)
        return fail(Errc::kInvalid, "arguments and variables are larger than {} KiB",
                    kCommandBytesMax >> 10U);
      command.arguments.push_back(*std::move(word));
    }
  command.directory = container.working_dir.empty() ? facts.directory : container.working_dir;
  command.variables = maker.environment.take();
  return command;
}

}  // namespace amdahl::local

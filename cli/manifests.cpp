#include "cli/manifests.hpp"

#include <nlohmann/json.hpp>

#include "base/json_member.hpp"
#include "operator/kube/environment.hpp"
#include "operator/kube/yaml_bounded.hpp"

namespace amdahl::cli {
namespace {

struct Piece {
  std::string_view text = {};
  std::size_t line = 1;  // where it begins
};

// At column 0 "---" ends a document, whatever stands before it.
bool is_separator(std::string_view line) {
  return line.starts_with("---") &&
         (line.size() == 3 || line[3] == ' ' || line[3] == '\t' || line[3] == '\r');
}

std::vector<Piece> split_documents(std::string_view text) {
  std::vector<Piece> pieces;
  std::size_t begin = 0;
  std::size_t first_line = 1;
  std::size_t line_number = 1;
  for (std::size_t at = 0; at < text.size(); ++line_number) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    if (is_separator(text.substr(at, end - at))) {
      pieces.push_back({.text = text.substr(begin, at - begin), .line = first_line});
      begin = std::min(at + 3, text.size());
      first_line = line_number;
    }
    at = end + 1;
  }
  pieces.push_back({.text = text.substr(begin), .line = first_line});
  return pieces;
}

Result<Manifest> manifest_of(Json object, const std::string& place, Names names) {
  if (!object.is_object()) return fail(Errc::kInvalid, "{}: not an object", place);
  Manifest manifest{.kind = std::string(text_of(object, "kind")), .place = place};
  const std::string_view api_version = text_of(object, "apiVersion");
  if (api_version.empty() || manifest.kind.empty())
    return fail(Errc::kInvalid, "{}: {} is missing", place,
                manifest.kind.empty() ? "kind" : "apiVersion");
  const std::size_t slash = api_version.find('/');
  manifest.version = slash == std::string_view::npos ? api_version : api_version.substr(slash + 1);
  if (slash != std::string_view::npos) manifest.group = api_version.substr(0, slash);
  const Json& metadata = member_of(object, "metadata");
  manifest.key = {.ns = std::string(text_of(metadata, "namespace")),
                  .name = std::string(text_of(metadata, "name"))};
  const bool made = names == Names::kMayBeMade && !text_of(metadata, "generateName").empty();
  if (manifest.key.name.empty() && !made)
    return fail(Errc::kInvalid, "{}: {} has no metadata.name", place, manifest.kind);
  manifest.object = std::move(object);
  return manifest;
}

Result<void> add_object(Json object, const std::string& place, Names names,
                        std::vector<Manifest>& into) {
  if (into.size() >= kManifestsMax)
    return fail(Errc::kTooLarge, "{}: more than {} objects", place, kManifestsMax);
  const bool list =
      text_of(object, "kind").ends_with("List") && member_of(object, "items").is_array();
  if (!list) {
    TRY(into.emplace_back(), manifest_of(std::move(object), place, names));
    return {};
  }
  std::size_t number = 0;
  for (Json& item : object["items"])
    TRY(add_object(std::move(item), fmt::format("{}, item {}", place, ++number), names, into));
  return {};
}

}  // namespace

Result<std::vector<Manifest>> parse_manifests(std::string_view text, const std::string& file,
                                              Names names) {
  std::vector<Manifest> manifests;
  const std::vector<Piece> pieces = split_documents(text);
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const std::string place =
        pieces.size() == 1 ? file : fmt::format("{}, document from line {}", file, pieces[i].line);
    TRY(const auto node, kube::parse_yaml(pieces[i].text, place));
    if (node.kind == kube::YamlKind::kNull) continue;
    TRY(add_object(kube::to_json(node), place, names, manifests));
  }
  if (manifests.empty()) return fail(Errc::kInvalid, "{}: there is no object in it", file);
  return manifests;
}

Result<std::vector<Manifest>> read_manifests(const Program& program,
                                             const std::vector<std::string>& files, Names names) {
  std::vector<Manifest> all;
  for (const std::string& file : files) {
    const bool standard = file == "-";
    TRY(const std::string text, standard ? program.terminal.input(kManifestBytesMax)
                                         : kube::read_file(file, kManifestBytesMax));
    TRY(auto some, parse_manifests(text, standard ? "standard input" : file, names));
    for (Manifest& one : some) all.emplace_back(std::move(one)).file = file;
  }
  return all;
}

Result<kube::ObjectKey> place_of(const Manifest& manifest, bool namespaced, const std::string& ns,
                                 bool ns_was_asked_for) {
  if (!namespaced) return kube::ObjectKey{.ns = "", .name = manifest.key.name};
  if (manifest.key.ns.empty()) return kube::ObjectKey{.ns = ns, .name = manifest.key.name};
  if (ns_was_asked_for && manifest.key.ns != ns)
    return fail(Errc::kInvalid, "{}: {} {} is in namespace {}, and --namespace says {}",
                manifest.place, manifest.kind, manifest.key.name, manifest.key.ns, ns);
  return manifest.key;
}

}  // namespace amdahl::cli

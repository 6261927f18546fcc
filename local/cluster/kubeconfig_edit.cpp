#include "local/cluster/kubeconfig_edit.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "base/fields.hpp"
#include "operator/kube/base64.hpp"
#include "operator/kube/kubeconfig.hpp"
#include "operator/kube/yaml_bounded.hpp"
#include "operator/kube/yaml_text.hpp"

namespace amdahl::local {
namespace {

using kube::YamlKind;
using kube::YamlNode;

constexpr std::array<std::string_view, 3> kLists = {"clusters", "users", "contexts"};
constexpr std::string_view kCurrent = "current-context";

// Text stays text: "1.10" is a version to whoever wrote it, and no number.
Json faithful(const YamlNode& node) {
  if (node.kind == YamlKind::kScalar) {
    Json value = kube::to_json(node);
    return value.is_number() && value.dump() != node.text ? Json(node.text) : value;
  }
  if (node.kind == YamlKind::kNull) return nullptr;
  if (node.kind == YamlKind::kSequence) {
    Json list = Json::array();
    for (const YamlNode& item : node.items) list.push_back(faithful(item));
    return list;
  }
  Json object = Json::object();
  for (std::size_t i = 0; i < node.keys.size(); ++i) object[node.keys[i]] = faithful(node.items[i]);
  return object;
}

bool is_ours(const Json& item) {
  return item.is_object() && item.value("name", Json()) == kContextName;
}

// Our entries by list; nothing: they are to go.
using Entries = std::optional<Json>;

Json entries_of(const ClusterAddress& address) {
  const std::string name(kContextName);
  return {{"clusters",
           {{"name", name},
            {"cluster",
             {{"server", address.url},
              {"certificate-authority-data", kube::base64_encode(address.authority_pem)}}}}},
          {"users", {{"name", name}, {"user", {{"token", address.token}}}}},
          {"contexts",
           {{"name", name},
            {"context", {{"cluster", name}, {"user", name}, {"namespace", "default"}}}}}};
}

// What the file is to say.
Json edited(Json config, const Entries& entries) {
  for (const std::string_view list : kLists) {
    Json& items = config[std::string(list)];
    if (!items.is_array()) items = Json::array();
    Json kept = Json::array();
    if (entries) kept.push_back(entries->at(std::string(list)));
    for (Json& item : items)
      if (!is_ours(item)) kept.push_back(std::move(item));
    items = std::move(kept);
  }
  Json& current = config[std::string(kCurrent)];
  if (current.is_null()) current = "";
  if (entries && current == "") current = kContextName;
  if (!entries && current == kContextName) current = "";
  return config;
}

// "- name: ...\n  cluster:\n ..." moved to the right.
std::string indented(const std::string& text, std::size_t by) {
  std::string moved;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    moved.append(by, ' ').append(text, at, end - at + 1);
    at = end + 1;
  }
  return moved;
}

std::uint32_t last_line(const YamlNode& node) {
  std::uint32_t last = node.line;
  for (const YamlNode& item : node.items) last = std::max(last, last_line(item));
  return last;
}

// A text as lines that can be dropped, replaced and followed by others, without moving.
class TextEdit {
 public:
  TextEdit(std::string_view text, const YamlNode& root) : root_(root) {
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size() - 1);
      lines_.push_back({.text = std::string(text.substr(0, end + 1))});
      text.remove_prefix(end + 1);
    }
    if (!lines_.empty() && !lines_.back().text.ends_with('\n')) lines_.back().text += '\n';
  }

  void edit(const Entries& entries, const std::string& current) {
    for (const std::string_view list : kLists) edit_list(list, entries);
    const YamlNode* before = root_.find(kCurrent);
    if (before != nullptr && before->text == current) return;
    const std::string line = std::string(kCurrent) + ": " + kube::to_yaml(Json(current));
    if (Line* key = key_line(kCurrent))
      key->text = line;
    else if (!current.empty())
      tail_ += line;
  }

  std::string text() const {
    std::string all;
    for (const Line& line : lines_) all += (line.dropped ? "" : line.text) + line.after;
    return all + tail_;
  }

 private:
  struct Line {
    std::string text = {};
    std::string after = {};
    bool dropped = false;
  };

  Line* key_line(std::string_view key) {
    const auto found = std::ranges::find_if(lines_, [key](const Line& line) {
      return line.text.starts_with(key) && line.text.substr(key.size()).starts_with(':');
    });
    return found == lines_.end() ? nullptr : &*found;
  }

  // Where the dash of a list's items stands.
  std::size_t indent_of(const YamlNode& list) const {
    const std::size_t at = list.items.front().line - 1;
    return at < lines_.size() ? std::min(lines_[at].text.find_first_not_of(' '), std::size_t{80})
                              : 0;
  }

  void edit_list(std::string_view name, const Entries& entries) {
    const YamlNode* list = root_.find(name);
    const bool filled = list != nullptr && !list->items.empty();
    std::size_t kept = 0;
    if (filled)
      for (const YamlNode& item : list->items) kept += drop_if_ours(item) ? 0 : 1;
    Line* key = key_line(name);
    const std::string head(name);
    if (!entries) {
      if (key != nullptr && filled && kept == 0) key->text = head + ": []\n";
      return;
    }
    const std::string block =
        indented(kube::to_yaml(Json::array({entries->at(head)})), filled ? indent_of(*list) : 0);
    if (key == nullptr) {
      tail_ += head + ":\n" + block;
      return;
    }
    if (!filled) key->text = head + ":\n";
    key->after = block;
  }

  bool drop_if_ours(const YamlNode& item) {
    const YamlNode* name = item.find("name");
    if (name == nullptr || name->text != kContextName) return false;
    for (std::uint32_t line = item.line; line <= last_line(item) && line <= lines_.size(); ++line)
      lines_[line - 1].dropped = true;
    return true;
  }

  const YamlNode& root_;
  std::vector<Line> lines_;
  std::string tail_;
};

Result<YamlNode> parse(std::string_view text, std::string_view file) {
  TRY(auto root, kube::parse_yaml(text, file, {.bytes_max = kube::kKubeconfigBytesMax}));
  if (root.kind != YamlKind::kMap && root.kind != YamlKind::kNull)
    return fail(Errc::kInvalid, "{}: not a kubeconfig; it is left as it is", file);
  for (const std::string_view list : kLists)
    if (const YamlNode* items = root.find(list);
        items != nullptr && items->kind != YamlKind::kSequence && items->kind != YamlKind::kNull)
      return fail(Errc::kInvalid, "{}: not a kubeconfig: {} is no list; it is left as it is", file,
                  list);
  return root;
}

// Lists that are missing and lists that are empty mean the same.
Result<std::string> edit_text(std::string_view text, const YamlNode& root, const Entries& entries,
                              std::string_view file) {
  const Json wanted = edited(faithful(root), entries);
  TextEdit edit(text, root);
  edit.edit(entries, wanted.at(std::string(kCurrent)).get<std::string>());
  std::string by_lines = edit.text();
  const auto again = parse(by_lines, file);
  const bool same =
      again && again->kind == YamlKind::kMap && edited(faithful(*again), entries) == wanted;
  return same ? by_lines : kube::to_yaml(wanted);
}

}  // namespace

std::string kubeconfig_text(const ClusterAddress& address) {
  return kube::to_yaml(
      edited({{"apiVersion", "v1"}, {"kind", "Config"}, {"preferences", Json::object()}},
             entries_of(address)));
}

Result<std::string> merge_context(std::string_view text, const ClusterAddress& address,
                                  std::string_view file) {
  TRY(const YamlNode root, parse(text, file));
  std::string merged;
  if (root.kind == YamlKind::kNull) {
    merged = std::string(text);  // nothing, or comments alone
    if (!merged.empty() && !merged.ends_with('\n')) merged += '\n';
    merged += kubeconfig_text(address);
  } else {
    TRY(merged, edit_text(text, root, entries_of(address), file));
  }
  // The rest of the file decides too whether kubectl can read it.
  const std::array<kube::KubeconfigFile, 1> files = {{{.path = std::string(file), .text = merged}}};
  if (auto read = kube::merge_kubeconfig(files, kContextName); !read)
    return wrap(std::move(read).error(), "not a kubeconfig that can be merged, left as it is");
  return merged;
}

Result<std::string> remove_context(std::string_view text, std::string_view file) {
  TRY(const YamlNode root, parse(text, file));
  if (root.kind == YamlKind::kNull) return std::string(text);
  bool any = false;
  for (const std::string_view list : kLists)
    if (const YamlNode* items = root.find(list))
      for (const YamlNode& item : items->items) any = any || is_ours(faithful(item));
  if (!any) return std::string(text);
  return edit_text(text, root, std::nullopt, file);
}

}  // namespace amdahl::local

#include "operator/kube/yaml_bounded.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <istream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <spanstream>
#include <utility>

namespace amdahl::kube {
namespace {

// Leaves yaml-cpp's parser; caught in parse_yaml and nowhere else.
struct Refused {
  Errc code = Errc::kInvalid;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  std::string why = {};
};

struct Weight {
  std::size_t nodes = 0;
  std::size_t text_bytes = 0;
  std::size_t height = 0;  // levels below and including this node's own, 0 for a leaf
};

Weight weigh(const YamlNode& node) {
  Weight weight{.nodes = 1, .text_bytes = node.text.size()};
  for (const std::string& key : node.keys) weight.text_bytes += key.size();
  for (const YamlNode& item : node.items) {
    const Weight part = weigh(item);
    weight.nodes += part.nodes;
    weight.text_bytes += part.text_bytes;
    weight.height = std::max(weight.height, part.height);
  }
  if (node.kind == YamlKind::kMap || node.kind == YamlKind::kSequence) ++weight.height;
  return weight;
}

[[noreturn]] void refuse(const YAML::Mark& mark, std::string why, Errc code = Errc::kInvalid) {
  throw Refused{.code = code,
                .line = static_cast<std::uint32_t>(mark.line + 1),
                .column = static_cast<std::uint32_t>(mark.column + 1),
                .why = std::move(why)};
}

// Builds the tree from events; throws Refused at the first breach of a limit.
class TreeBuilder final : public YAML::EventHandler {
 public:
  explicit TreeBuilder(const YamlLimits& limits) : limits_(limits) {}

  YamlNode take() { return std::move(root_); }
  // Where the last text that is not plain begins, if nothing plain came after it.
  const std::optional<YAML::Mark>& quoted_last() const { return quoted_last_; }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (std::exchange(started_, true)) refuse(mark, "there is more than one document");
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    leaf(make(mark, YamlKind::kNull), anchor);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    YamlNode node = make(mark, YamlKind::kScalar);
    node.plain = tag == "?";  // yaml-cpp's tag of an unquoted scalar
    quoted_last_.reset();
    if (!node.plain) quoted_last_ = mark;
    node.text = value;
    leaf(std::move(node), anchor);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    if (++aliases_ > limits_.aliases_max) refuse(mark, "too many aliases", Errc::kTooLarge);
    const auto found = anchored_.find(anchor);
    // An anchor is known only once its node has ended, so this one is inside its own value.
    if (found == anchored_.end()) refuse(mark, "an alias refers to the value that contains it");
    charge(found->second.weight, mark);
    // Aliases of aliases could otherwise stack up to any depth.
    if (open_.size() + found->second.weight.height > limits_.depth_max) refuse_depth(mark);
    place(found->second.node, mark);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(mark, YamlKind::kSequence, anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(mark, YamlKind::kMap, anchor);
  }
  void OnMapEnd() override { close(); }

 private:
  struct Open {
    YamlNode node = {};
    YAML::anchor_t anchor = YAML::NullAnchor;
    YAML::Mark mark = {};
    std::set<std::string> keys_seen = {};
    bool key_pending = false;  // a key of this map was read, its value was not
  };
  struct Anchored {
    YamlNode node = {};
    Weight weight = {};
  };

  [[noreturn]] static void refuse_depth(const YAML::Mark& mark) {
    refuse(mark, "too deeply nested", Errc::kTooLarge);
  }

  static YamlNode make(const YAML::Mark& mark, YamlKind kind) {
    YamlNode node;
    node.kind = kind;
    node.line = static_cast<std::uint32_t>(mark.line + 1);
    node.column = static_cast<std::uint32_t>(mark.column + 1);
    return node;
  }

  void charge(const Weight& weight, const YAML::Mark& mark) {
    used_.nodes += weight.nodes;
    used_.text_bytes += weight.text_bytes;
    if (used_.nodes > limits_.nodes_max || used_.text_bytes > limits_.text_bytes_max)
      refuse(mark, "the document is too large once its aliases are expanded", Errc::kTooLarge);
  }

  void leaf(YamlNode node, YAML::anchor_t anchor) {
    YAML::Mark mark;
    mark.line = static_cast<int>(node.line) - 1;
    mark.column = static_cast<int>(node.column) - 1;
    charge({.nodes = 1, .text_bytes = node.text.size()}, mark);
    remember(node, anchor, mark);
    place(std::move(node), mark);
  }

  void open(const YAML::Mark& mark, YamlKind kind, YAML::anchor_t anchor) {
    if (open_.size() >= limits_.depth_max) refuse_depth(mark);
    charge({.nodes = 1}, mark);
    open_.push_back({.node = make(mark, kind), .anchor = anchor, .mark = mark});
  }

  void close() {
    Open done = std::move(open_.back());
    open_.pop_back();
    remember(done.node, done.anchor, done.mark);
    place(std::move(done.node), done.mark);
  }

  void remember(const YamlNode& node, YAML::anchor_t anchor, const YAML::Mark& mark) {
    if (anchor == YAML::NullAnchor) return;
    const Weight weight = weigh(node);
    charge(weight, mark);  // the copy kept for later aliases costs memory too
    anchored_[anchor] = {.node = node, .weight = weight};
  }

  void place(YamlNode node, const YAML::Mark& mark) {
    if (open_.empty()) {
      root_ = std::move(node);
      return;
    }
    Open& parent = open_.back();
    if (parent.node.kind == YamlKind::kMap && !parent.key_pending) {
      add_key(parent, node, mark);
      return;
    }
    parent.key_pending = false;
    parent.node.items.push_back(std::move(node));
  }

  static void add_key(Open& map, YamlNode& key, const YAML::Mark& mark) {
    if (key.kind != YamlKind::kScalar) refuse(mark, "a key is not plain text");
    if (key.plain && key.text == "<<") refuse(mark, "merge keys (<<) are not supported");
    if (!map.keys_seen.insert(key.text).second)
      refuse(mark, fmt::format("the key \"{}\" is there twice", key.text.substr(0, 64)));
    map.node.keys.push_back(std::move(key.text));
    map.key_pending = true;
  }

  const YamlLimits& limits_;
  YamlNode root_;
  std::vector<Open> open_;
  std::map<YAML::anchor_t, Anchored> anchored_;
  Weight used_;
  std::optional<YAML::Mark> quoted_last_;
  std::size_t aliases_ = 0;
  bool started_ = false;
};

void read_events(std::string_view text, YAML::EventHandler& handler) {
  std::ispanstream stream{std::span<const char>(text)};
  YAML::Parser parser(stream);
  while (parser.HandleNextDocument(handler)) {
  }
}

// yaml-cpp takes the end of the file for a missing quote if it comes where a line begins. With one
// more character there it does not; to any other text that character is a comment.
bool ends_inside_quotes(std::string_view text, const YamlLimits& limits) {
  TreeBuilder unused(limits);
  try {
    read_events(std::string(text) + "\n#", unused);
  } catch (const YAML::Exception&) {
    return true;
  }
  return false;
}

nlohmann::json plain_to_json(const std::string& text) {
  if (text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL")
    return nullptr;
  if (text == "true" || text == "True" || text == "TRUE") return true;
  if (text == "false" || text == "False" || text == "FALSE") return false;
  const char* end = text.data() + text.size();
  std::int64_t integer = 0;
  if (auto [at, error] = std::from_chars(text.data(), end, integer);
      error == std::errc{} && at == end)
    return integer;
  double real = 0;
  const bool numeric = text.find_first_not_of("0123456789+-.eE") == std::string::npos;
  if (auto [at, error] = std::from_chars(text.data(), end, real);
      numeric && error == std::errc{} && at == end && std::isfinite(real))
    return real;
  return text;
}

}  // namespace

std::string_view name(YamlKind kind) {
  switch (kind) {
    case YamlKind::kNull:
      return "nothing";
    case YamlKind::kScalar:
      return "text";
    case YamlKind::kSequence:
      return "a list";
    case YamlKind::kMap:
      return "a map";
  }
  return "unknown";
}

const YamlNode* YamlNode::find(std::string_view key) const {
  const auto found = std::ranges::find(keys, key);
  return found == keys.end() ? nullptr : &items[static_cast<std::size_t>(found - keys.begin())];
}

Result<YamlNode> parse_yaml(std::string_view text, std::string_view file,
                            const YamlLimits& limits) {
  if (text.size() > limits.bytes_max)
    return fail(Errc::kTooLarge, "{}: {} bytes; at most {} are read", file, text.size(),
                limits.bytes_max);
  try {
    TreeBuilder builder(limits);
    read_events(text, builder);
    if (builder.quoted_last() && ends_inside_quotes(text, limits))
      refuse(*builder.quoted_last(), "the quoted text that begins here has no end");
    return builder.take();
  } catch (const Refused& refused) {
    return fail(refused.code, "{}:{}:{}: {}", file, refused.line, refused.column, refused.why);
  } catch (const YAML::Exception& error) {
    return fail(Errc::kInvalid, "{}:{}:{}: {}", file, error.mark.line + 1, error.mark.column + 1,
                error.msg);
  }
}

nlohmann::json to_json(const YamlNode& node) {
  switch (node.kind) {
    case YamlKind::kNull:
      return nullptr;
    case YamlKind::kScalar:
      return node.plain ? plain_to_json(node.text) : nlohmann::json(node.text);
    case YamlKind::kSequence: {
      auto list = nlohmann::json::array();
      for (const YamlNode& item : node.items) list.push_back(to_json(item));
      return list;
    }
    case YamlKind::kMap:
      break;
  }
  auto object = nlohmann::json::object();
  for (std::size_t i = 0; i < node.keys.size(); ++i) object[node.keys[i]] = to_json(node.items[i]);
  return object;
}

}  // namespace amdahl::kube

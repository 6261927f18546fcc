#include "checkpoint/format/strict_json.hpp"

#include <limits>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "base/json_dump.hpp"

namespace amdahl::checkpoint {
namespace {

// Builds the tree from nlohmann's events, which come without recursion.
class TreeBuilder final : public nlohmann::json_sax<Json> {
 public:
  explicit TreeBuilder(int depth_max) : depth_max_(static_cast<std::size_t>(depth_max)) {}

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override {
    if (value > std::numeric_limits<std::int64_t>::max())
      return refuse(Errc::kInvalid, fmt::format("{} has more than 64 bits", value));
    return add(static_cast<std::int64_t>(value));
  }
  bool number_float(number_float_t /*value*/, const string_t& text) override {
    return refuse(Errc::kInvalid, fmt::format("{} is not a 64-bit integer", text.substr(0, 40)));
  }
  bool string(string_t& value) override { return add(std::move(value)); }
  bool binary(binary_t& /*value*/) override { return refuse(Errc::kCorrupt, "binary"); }
  bool start_object(std::size_t /*size*/) override { return open(Json::object()); }
  bool start_array(std::size_t /*size*/) override { return open(Json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& name) override {
    auto [place, fresh] = open_.back()->get_ref<Json::object_t&>().try_emplace(std::move(name));
    if (!fresh) return refuse(Errc::kInvalid, path() + shown(place->first) + " appears twice");
    member_ = &place->second;
    return true;
  }
  bool parse_error(std::size_t position, const std::string& /*last_token*/,
                   const nlohmann::detail::exception& /*error*/) override {
    return refuse(Errc::kCorrupt, fmt::format("malformed JSON at byte {}", position));
  }

  Result<Json> result() && {
    if (!what_.empty()) return fail(code_, "{}", what_);
    return std::move(root_);
  }

 private:
  bool refuse(Errc code, std::string what) {
    code_ = code;
    what_ = std::move(what);
    return false;
  }
  // The names that lead to where we are. Found by looking, so that good texts do not pay for it.
  std::string path() const {
    std::string text;
    for (std::size_t i = 1; i < open_.size(); ++i) {
      if (!open_[i - 1]->is_object()) continue;
      for (const auto& [name, value] : open_[i - 1]->items())
        if (&value == open_[i]) text += shown(name) + ": ";
    }
    return text;
  }
  Json* place(Json value) {
    if (open_.empty()) return &(root_ = std::move(value));
    if (!open_.back()->is_array()) return &(*member_ = std::move(value));
    auto& items = open_.back()->get_ref<Json::array_t&>();
    return &items.emplace_back(std::move(value));
  }
  bool add(Json value) {
    place(std::move(value));
    return true;
  }
  bool open(Json value) {
    if (open_.size() == depth_max_)
      return refuse(Errc::kTooLarge, fmt::format("nested deeper than {} levels", depth_max_));
    open_.push_back(place(std::move(value)));
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  std::size_t depth_max_;
  Json root_;
  std::vector<Json*> open_;  // containers from the root inwards; only the last one grows
  Json* member_ = nullptr;   // where the value of the last name goes
  Errc code_ = Errc::kCorrupt;
  std::string what_;
};

}  // namespace

Result<Json> parse_strict(std::string_view text, int depth_max) {
  if (text.starts_with("\xEF\xBB\xBF"))
    return fail(Errc::kCorrupt, "begins with a byte-order mark");
  TreeBuilder builder(depth_max);
  const bool ok = Json::sax_parse(text, &builder);
  auto tree = std::move(builder).result();
  if (!ok && tree) return fail(Errc::kCorrupt, "malformed JSON");
  return tree;
}

std::string shown(std::string_view name) {
  constexpr std::size_t kShownBytesMax = 120;
  const bool cut = name.size() > kShownBytesMax;
  return dump_json(Json(std::string(name.substr(0, kShownBytesMax)))) + (cut ? "..." : "");
}

}  // namespace amdahl::checkpoint

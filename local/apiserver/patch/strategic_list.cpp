#include "local/apiserver/patch/strategic_list.hpp"

#include <algorithm>
#include <limits>
#include <vector>

namespace amdahl::local {
namespace {

constexpr std::size_t kShownBytesMax = 512;

std::string text_of(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void append_go_text(std::string& text, const Json& value) {  // NOLINT(misc-no-recursion) kDepthMax
  if (text.size() > kShownBytesMax) return;
  if (value.is_string()) {
    text += value.get_ref<const std::string&>();
  } else if (value.is_null()) {
    text += "<nil>";
  } else if (value.is_array()) {
    text += '[';
    for (std::size_t i = 0; i < value.size(); ++i) {
      if (i > 0) text += ' ';
      append_go_text(text, value[i]);
    }
    text += ']';
  } else if (value.is_object()) {
    text += "map[";
    for (auto member = value.begin(); member != value.end(); ++member) {
      if (member != value.begin()) text += ' ';
      text += member.key() + ":";
      append_go_text(text, *member);
    }
    text += ']';
  } else {
    text += text_of(value);
  }
}

std::size_t rank(const ItemOrder& order, const std::string& identity) {
  const auto found = order.find(identity);
  return found == order.end() ? std::numeric_limits<std::size_t>::max() : found->second;
}

struct Ranked {
  Json item = {};
  std::size_t wanted = 0;
  std::size_t server = 0;
  std::size_t place = 0;  // breaks ties: libstdc++'s stable_sort does not compile without warnings
};

}  // namespace

std::string go_text(const Json& value) {
  std::string text;
  append_go_text(text, value);
  if (text.size() > kShownBytesMax) text = text.substr(0, kShownBytesMax) + "...";
  return text;
}

Result<std::string> ItemIdentity::of(const Json& item) const {
  if (merge_key_.empty()) return text_of(item);
  if (!item.is_object())
    return fail(Errc::kTerminal, "expected a map[string]interface {{}}, but received {}",
                go_text(item));
  const auto found = item.find(merge_key_);
  if (found == item.end())
    return fail(Errc::kTerminal, "map: {} does not contain declared merge key: {}", go_text(item),
                merge_key_);
  return text_of(*found);
}

Result<ItemOrder> order_of(const Json& list, const ItemIdentity& identity) {
  ItemOrder order;
  for (std::size_t i = 0; i < list.size(); ++i) {
    TRY(std::string key, identity.of(list[i]));
    order.emplace(std::move(key), i);
  }
  return order;
}

Result<Json> reordered(Json items, const ItemIdentity& identity, const ItemOrder& wanted,
                       const ItemOrder& server) {
  constexpr std::size_t kNowhere = std::numeric_limits<std::size_t>::max();
  std::vector<Ranked> named;
  std::vector<Ranked> others;
  for (Json& item : items) {
    TRY(const std::string key, identity.of(item));
    Ranked ranked{.item = std::move(item),
                  .wanted = rank(wanted, key),
                  .server = rank(server, key),
                  .place = named.size() + others.size()};
    (ranked.wanted == kNowhere ? others : named).push_back(std::move(ranked));
  }
  std::ranges::sort(named, {}, [](const Ranked& one) { return std::pair(one.wanted, one.place); });
  std::ranges::sort(others, {}, [](const Ranked& one) { return std::pair(one.server, one.place); });
  Json result = Json::array();
  auto other = others.begin();
  for (Ranked& one : named) {
    for (; other != others.end() && one.server != kNowhere && other->server < one.server; ++other)
      result.push_back(std::move(other->item));
    result.push_back(std::move(one.item));
  }
  for (; other != others.end(); ++other) result.push_back(std::move(other->item));
  return result;
}

Result<ListContent> content_of(const Json& first, const Json& second) {
  const Json* seen = nullptr;
  for (const Json* list : {&first, &second}) {
    for (const Json& item : *list) {
      if (item.is_array()) return fail(Errc::kInvalid, "lists of lists are not supported");
      const bool same =
          seen == nullptr || seen->type() == item.type() || (seen->is_number() && item.is_number());
      if (!same)
        return fail(Errc::kTerminal, "list element types are not identical: [{} {}]",
                    go_text(first), go_text(second));
      seen = &item;
    }
  }
  return ListContent{.scalars = seen != nullptr && !seen->is_object(), .empty = seen == nullptr};
}

}  // namespace amdahl::local

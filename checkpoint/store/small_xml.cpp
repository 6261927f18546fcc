#include "checkpoint/store/small_xml.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace amdahl::checkpoint {
namespace {

constexpr std::string_view kSpace = " \t\r\n";
constexpr std::array<std::pair<std::string_view, char>, 5> kEntities = {
    {{"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}}};

bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == '.' || c == ':';
}

void append_utf8(std::string& text, std::uint32_t code) {
  const auto tail = [&](unsigned shift) {
    text += static_cast<char>(0x80U | ((code >> shift) & 0x3FU));
  };
  if (code < 0x80) {
    text += static_cast<char>(code);
  } else if (code < 0x800) {
    text += static_cast<char>(0xC0U | (code >> 6U));
    tail(0);
  } else if (code < 0x10000) {
    text += static_cast<char>(0xE0U | (code >> 12U));
    tail(6), tail(0);
  } else {
    text += static_cast<char>(0xF0U | (code >> 18U));
    tail(12), tail(6), tail(0);
  }
}

class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  Result<XmlElement> read() {
    skip_space();
    if (rest_.starts_with("<?xml")) {
      const std::size_t end = rest_.find("?>");
      if (end == rest_.npos) return broken("a declaration without an end");
      rest_.remove_prefix(end + 2);
      skip_space();
    }
    XmlElement root;
    TRY(element(root, 1));
    skip_space();
    if (!rest_.empty()) return broken("something after the end");
    return root;
  }

 private:
  static std::unexpected<Error> broken(std::string_view why) {
    return fail(Errc::kCorrupt, "no XML of a store: {}", why);
  }
  void skip_space() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(kSpace), rest_.size()));
  }
  bool eat(std::string_view literal) {
    if (!rest_.starts_with(literal)) return false;
    rest_.remove_prefix(literal.size());
    return true;
  }
  std::string_view eat_name() {
    const auto end = std::ranges::find_if_not(rest_, is_name);
    const std::string_view name = rest_.substr(0, static_cast<std::size_t>(end - rest_.begin()));
    rest_.remove_prefix(name.size());
    return name;
  }

  Result<void> element(XmlElement& into, std::size_t depth) {
    if (depth > kXmlDepthMax || ++elements_ > kXmlElementsMax)
      return fail(Errc::kTooLarge, "XML deeper than {} or with more than {} elements", kXmlDepthMax,
                  kXmlElementsMax);
    if (!eat("<")) return broken("no element");
    into.name = eat_name();
    if (into.name.empty()) return broken("an element without a name");
    TRY(const bool empty, end_of_tag());
    return empty ? Result<void>{} : content(into, depth);
  }

  // True: the element ends here. Attributes are skipped.
  Result<bool> end_of_tag() {
    for (;;) {
      const std::size_t before = rest_.size();
      skip_space();
      if (eat("/>")) return true;
      if (eat(">")) return false;
      if (rest_.size() == before || eat_name().empty()) return broken("a tag without an end");
      skip_space();
      if (!eat("=")) return broken("an attribute without a value");
      skip_space();
      const char quote = rest_.empty() ? '\0' : rest_.front();
      const std::size_t end = rest_.find(quote, 1);
      if ((quote != '"' && quote != '\'') || end == rest_.npos)
        return broken("an attribute without quotes");
      rest_.remove_prefix(end + 1);
    }
  }

  Result<void> content(XmlElement& into, std::size_t depth) {
    for (;;) {
      const std::size_t end = rest_.find('<');
      if (end == rest_.npos) return broken("cut off");
      TRY(text(rest_.substr(0, end), into.text));
      rest_.remove_prefix(end);
      if (eat("</")) {
        if (eat_name() != into.name) return broken("tags that do not fit");
        skip_space();
        return eat(">") ? Result<void>{} : broken("a tag without an end");
      }
      TRY(element(into.children.emplace_back(), depth + 1));
    }
  }

  static Result<void> text(std::string_view raw, std::string& into) {
    for (std::size_t at = raw.find('&'); at != raw.npos; at = raw.find('&')) {
      into += raw.substr(0, at);
      raw.remove_prefix(at + 1);
      const std::size_t end = raw.find(';');
      if (end == raw.npos || !entity(raw.substr(0, end), into)) return broken("a bad entity");
      raw.remove_prefix(end + 1);
    }
    into += raw;
    return {};
  }

  static bool entity(std::string_view name, std::string& into) {
    for (const auto& [known, c] : kEntities) {
      if (name != known) continue;
      into += c;
      return true;
    }
    if (!name.starts_with('#')) return false;
    name.remove_prefix(1);
    const bool hexadecimal = name.starts_with('x');
    if (hexadecimal) name.remove_prefix(1);
    std::uint32_t code = 0;
    const auto [end, error] =
        std::from_chars(name.data(), name.data() + name.size(), code, hexadecimal ? 16 : 10);
    const bool surrogate = code >= 0xD800 && code < 0xE000;
    if (error != std::errc{} || end != name.data() + name.size() || code == 0 || code > 0x10FFFF ||
        surrogate)
      return false;
    append_utf8(into, code);
    return true;
  }

  std::string_view rest_;
  std::size_t elements_ = 0;
};

}  // namespace

const XmlElement* XmlElement::child(std::string_view child_name) const {
  const auto found = std::ranges::find(children, child_name, &XmlElement::name);
  return found == children.end() ? nullptr : &*found;
}

std::string_view XmlElement::text_of_child(std::string_view child_name) const {
  const XmlElement* const found = child(child_name);
  return found == nullptr ? std::string_view() : std::string_view(found->text);
}

Result<XmlElement> parse_xml(std::string_view text) {
  if (text.size() > kXmlBytesMax)
    return fail(Errc::kTooLarge, "XML of {} bytes, at most {}", text.size(), kXmlBytesMax);
  return Reader(text).read();
}

std::string xml_escape(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    const auto found = std::ranges::find(kEntities, c, &std::pair<std::string_view, char>::second);
    if (found == kEntities.end())
      escaped += c;
    else
      escaped += fmt::format("&{};", found->first);
  }
  return escaped;
}

}  // namespace amdahl::checkpoint

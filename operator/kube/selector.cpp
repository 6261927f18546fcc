#include "operator/kube/selector.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

namespace amdahl::kube {
namespace {

constexpr std::size_t kLabelNameMax = 63;
constexpr std::size_t kLabelPrefixMax = 253;
constexpr std::string_view kSymbols = "=!(),><";
constexpr std::string_view kBlanks = " \t\r\n";

bool alphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}
bool lower_alphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

// Letters, digits, '-', '_' and '.', with a letter or digit at both ends.
bool qualified(std::string_view text) {
  return !text.empty() && alphanumeric(text.front()) && alphanumeric(text.back()) &&
         std::ranges::all_of(
             text, [](char c) { return alphanumeric(c) || c == '-' || c == '_' || c == '.'; });
}

bool dns_subdomain(std::string_view text) {
  if (text.empty() || text.size() > kLabelPrefixMax) return false;
  while (true) {
    const std::string_view part = text.substr(0, text.find('.'));
    if (part.empty() || !lower_alphanumeric(part.front()) || !lower_alphanumeric(part.back()) ||
        !std::ranges::all_of(part, [](char c) { return lower_alphanumeric(c) || c == '-'; }))
      return false;
    if (part.size() == text.size()) return true;
    text.remove_prefix(part.size() + 1);
  }
}

std::optional<std::int64_t> integer(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// Cuts the text into words and symbols. An empty token is the end.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : rest_(text) {}

  std::string_view peek() const {
    const std::string_view text = trimmed();
    if (text.empty()) return text;
    if (kSymbols.find(text.front()) == std::string_view::npos) {
      const std::size_t end = text.find_first_of("=!(),>< \t\r\n");
      return text.substr(0, end);
    }
    const bool two = text.starts_with("==") || text.starts_with("!=");
    return text.substr(0, two ? 2 : 1);
  }
  std::string_view next() {
    const std::string_view token = peek();
    rest_ = trimmed().substr(token.size());
    return token;
  }
  bool at_word() const {
    const std::string_view token = peek();
    return !token.empty() && kSymbols.find(token.front()) == std::string_view::npos;
  }

 private:
  std::string_view trimmed() const {
    const std::size_t start = rest_.find_first_not_of(kBlanks);
    return start == std::string_view::npos ? std::string_view() : rest_.substr(start);
  }
  std::string_view rest_;
};

std::string shown(std::string_view token) {
  return token.empty() ? "the end" : fmt::format("'{}'", token.substr(0, kLabelNameMax));
}

class Parser {
 public:
  explicit Parser(std::string_view text) : lexer_(text) {}

  Result<std::vector<Requirement>> parse() {
    std::vector<Requirement> requirements;
    if (lexer_.peek().empty()) return requirements;
    while (true) {
      if (requirements.size() == kSelectorRequirementsMax)
        return fail(Errc::kTooLarge, "more than {} requirements", kSelectorRequirementsMax);
      TRY(Requirement requirement, one());
      requirements.push_back(std::move(requirement));
      const std::string_view token = lexer_.next();
      if (token.empty()) return requirements;
      if (token != ",")
        return fail(Errc::kInvalid, "found {}, expected ',' or the end", shown(token));
    }
  }

 private:
  Result<Requirement> one() {
    Requirement requirement;
    const bool negated = lexer_.peek() == "!";
    if (negated) lexer_.next();
    if (!lexer_.at_word())
      return fail(Errc::kInvalid, "found {}, expected a label key", shown(lexer_.peek()));
    requirement.key = lexer_.next();
    TRY(validate_label_key(requirement.key));
    const std::string_view after = lexer_.peek();
    if (after.empty() || after == ",") {
      requirement.op = negated ? SelectorOperator::kNotExists : SelectorOperator::kExists;
      return requirement;
    }
    if (negated) return fail(Errc::kInvalid, "found {} after '!{}'", shown(after), requirement.key);
    TRY(requirement.op, comparison());
    const bool set =
        requirement.op == SelectorOperator::kIn || requirement.op == SelectorOperator::kNotIn;
    TRY(requirement.values, set ? value_set() : single_value());
    TRY(check_values(requirement));
    return requirement;
  }

  Result<SelectorOperator> comparison() {
    const std::string_view token = lexer_.next();
    if (token == "=" || token == "==") return SelectorOperator::kEquals;
    if (token == "!=") return SelectorOperator::kNotEquals;
    if (token == "in") return SelectorOperator::kIn;
    if (token == "notin") return SelectorOperator::kNotIn;
    if (token == ">") return SelectorOperator::kGreater;
    if (token == "<") return SelectorOperator::kLess;
    return fail(Errc::kInvalid, "found {}, expected one of =, ==, !=, in, notin, <, >",
                shown(token));
  }

  Result<std::vector<std::string>> single_value() {
    const std::string_view token = lexer_.peek();
    if (token.empty() || token == ",") return std::vector<std::string>{""};
    if (!lexer_.at_word()) return fail(Errc::kInvalid, "found {}, expected a value", shown(token));
    return std::vector<std::string>{std::string(lexer_.next())};
  }

  // "(a,b)"; a missing value is the empty one, as in "(a,)".
  Result<std::vector<std::string>> value_set() {
    if (const auto open = lexer_.next(); open != "(")
      return fail(Errc::kInvalid, "found {}, expected '('", shown(open));
    std::vector<std::string> values;
    while (true) {
      values.emplace_back(lexer_.at_word() ? lexer_.next() : std::string_view());
      const std::string_view token = lexer_.next();
      if (token == ")") break;
      if (token != ",") return fail(Errc::kInvalid, "found {}, expected ',' or ')'", shown(token));
    }
    std::ranges::sort(values);
    values.erase(std::unique(values.begin(), values.end()), values.end());
    return values;
  }

  static Result<void> check_values(const Requirement& requirement) {
    for (const std::string& value : requirement.values) TRY(validate_label_value(value));
    const bool ordered =
        requirement.op == SelectorOperator::kGreater || requirement.op == SelectorOperator::kLess;
    if (ordered && !integer(requirement.values.front()))
      return fail(Errc::kInvalid, "'{}' is compared with '<' or '>' and is not an integer",
                  requirement.values.front());
    return {};
  }

  Lexer lexer_;
};

}  // namespace

Result<void> validate_label_key(std::string_view key) {
  const std::size_t slash = key.find('/');
  const std::string_view prefix = key.substr(0, slash == std::string_view::npos ? 0 : slash);
  const std::string_view rest = slash == std::string_view::npos ? key : key.substr(slash + 1);
  const std::string_view seen = key.substr(0, kLabelNameMax);
  if (slash != std::string_view::npos && !dns_subdomain(prefix))
    return fail(Errc::kInvalid, "label key '{}': the prefix is not a DNS subdomain", seen);
  if (rest.size() > kLabelNameMax)
    return fail(Errc::kInvalid, "label key '{}...': longer than {} characters", seen,
                kLabelNameMax);
  if (!qualified(rest))
    return fail(Errc::kInvalid,
                "label key '{}': letters, digits, '-', '_', '.' only, alphanumeric at both ends",
                seen);
  return {};
}

Result<void> validate_label_value(std::string_view value) {
  const std::string_view seen = value.substr(0, kLabelNameMax);
  if (value.size() > kLabelNameMax)
    return fail(Errc::kInvalid, "label value '{}...': longer than {} characters", seen,
                kLabelNameMax);
  if (!value.empty() && !qualified(value))
    return fail(Errc::kInvalid,
                "label value '{}': letters, digits, '-', '_', '.' only, alphanumeric at both ends",
                seen);
  return {};
}

bool Requirement::matches(const PackedMap& labels) const {
  const auto label = labels.find(key);
  const auto holds_value = [&] {
    return label && std::ranges::find(values, *label) != values.end();
  };
  switch (op) {
    case SelectorOperator::kIn:
    case SelectorOperator::kEquals:
      return holds_value();
    case SelectorOperator::kNotIn:
    case SelectorOperator::kNotEquals:
      return !holds_value();
    case SelectorOperator::kExists:
      return label.has_value();
    case SelectorOperator::kNotExists:
      return !label.has_value();
    case SelectorOperator::kGreater:
    case SelectorOperator::kLess:
      break;
  }
  const auto number = label ? integer(*label) : std::nullopt;
  const auto bound = integer(values.front());
  if (!number || !bound) return false;
  return op == SelectorOperator::kGreater ? *number > *bound : *number < *bound;
}

std::string Requirement::to_string() const {
  switch (op) {
    case SelectorOperator::kExists:
      return key;
    case SelectorOperator::kNotExists:
      return "!" + key;
    case SelectorOperator::kEquals:
      return key + "=" + values.front();
    case SelectorOperator::kNotEquals:
      return key + "!=" + values.front();
    case SelectorOperator::kGreater:
      return key + ">" + values.front();
    case SelectorOperator::kLess:
      return key + "<" + values.front();
    case SelectorOperator::kIn:
    case SelectorOperator::kNotIn:
      break;
  }
  return fmt::format("{} {} ({})", key, op == SelectorOperator::kIn ? "in" : "notin",
                     fmt::join(values, ","));
}

Result<Selector> Selector::parse(std::string_view text) {
  if (text.size() > kSelectorBytesMax)
    return fail(Errc::kTooLarge, "label selector of more than {} bytes", kSelectorBytesMax);
  auto parsed = Parser(text).parse();
  if (!parsed)
    return wrap(std::move(parsed).error(), "label selector \"{}\"",
                text.substr(0, kLabelPrefixMax));
  Selector selector;
  selector.requirements_ = std::move(*parsed);
  std::ranges::sort(selector.requirements_);
  return selector;
}

bool Selector::matches(const PackedMap& labels) const {
  return std::ranges::all_of(requirements_,
                             [&](const Requirement& one) { return one.matches(labels); });
}

std::string Selector::to_string() const {
  std::string text;
  for (const Requirement& requirement : requirements_) {
    if (!text.empty()) text += ',';
    text += requirement.to_string();
  }
  return text;
}

}  // namespace amdahl::kube

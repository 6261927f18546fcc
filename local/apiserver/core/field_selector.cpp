#include "local/apiserver/core/field_selector.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace amdahl::local {
namespace {

// Commas, equal signs and backslashes of a value are written with a backslash.
std::optional<std::string> unescaped(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\\') {
      if (at + 1 == text.size()) return std::nullopt;
      const char next = text[++at];
      if (next != '\\' && next != ',' && next != '=') return std::nullopt;
      out += next;
    } else if (text[at] == '=' || text[at] == ',') {
      return std::nullopt;
    } else {
      out += text[at];
    }
  }
  return out;
}

std::vector<std::string_view> split_terms(std::string_view text) {
  std::vector<std::string_view> terms;
  std::size_t start = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\\') {
      ++at;
    } else if (text[at] == ',') {
      terms.push_back(text.substr(start, at - start));
      start = at + 1;
    }
  }
  terms.push_back(text.substr(start));
  return terms;
}

std::optional<FieldTerm> parse_term(std::string_view text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    const std::string_view rest = text.substr(at);
    std::size_t width = 0;
    if (rest.starts_with("!=") || rest.starts_with("=="))
      width = 2;
    else if (rest.starts_with('='))
      width = 1;
    if (width == 0) continue;
    auto value = unescaped(rest.substr(width));
    if (!value) return std::nullopt;
    return FieldTerm{.field = std::string(text.substr(0, at)),
                     .value = std::move(*value),
                     .equal = rest.front() != '!'};
  }
  return std::nullopt;
}

std::string_view value_of(const StoredObject& object, std::string_view field) {
  if (field == "metadata.name") return object.name();
  if (field == "metadata.namespace") return object.ns();
  return object.fields.find(field).value_or(std::string_view());
}

}  // namespace

Outcome<FieldSelector> FieldSelector::parse(std::string_view text) {
  FieldSelector selector;
  for (const std::string_view part : split_terms(text)) {
    if (part.empty()) continue;
    auto term = parse_term(part);
    if (!term || selector.terms_.size() == kFieldTermsMax)
      return bad_request(fmt::format("invalid selector: '{}'; can't understand '{}'", text, part));
    selector.terms_.push_back(std::move(*term));
  }
  return selector;
}

void FieldSelector::require(std::string field, std::string value) {
  terms_.push_back({.field = std::move(field), .value = std::move(value)});
}

bool FieldSelector::matches(const StoredObject& object) const {
  return std::ranges::all_of(terms_, [&](const FieldTerm& term) {
    return (value_of(object, term.field) == term.value) == term.equal;
  });
}

std::optional<std::string> FieldSelector::exact(std::string_view field) const {
  for (const FieldTerm& term : terms_)
    if (term.equal && term.field == field) return term.value;
  return std::nullopt;
}

}  // namespace amdahl::local

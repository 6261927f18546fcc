#include "operator/kube/yaml_text.hpp"

#include <yaml-cpp/emitter.h>
#include <yaml-cpp/emittermanip.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

namespace amdahl::kube {
namespace {

using nlohmann::json;

// Words that some YAML reader takes for null, true, false or a merge; YAML 1.1 knows more than 1.2.
constexpr std::array<std::string_view, 13> kWords = {
    "~", "null", "true", "false", "yes", "no", "on", "off", "y", "n", "", "<<", "="};

bool is_word(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::ranges::find(kWords, lower) != kWords.end();
}

// A number, or a date, or close enough: quotes cost nothing.
bool like_number(std::string_view text) {
  return std::string_view("0123456789+-.").contains(text.front()) &&
         text.find_first_not_of("0123456789abcdefABCDEFxXoOiInNpP_:+-.TZ") ==
             std::string_view::npos;
}

// "|" keeps exactly one newline at the end, and its first line tells the indentation.
bool fits_literal(std::string_view text) {
  return text.ends_with('\n') && !text.ends_with("\n\n") && text.front() != '\n' &&
         text.front() != ' ' && text.find("\n ") == std::string_view::npos &&
         text.find(" \n") == std::string_view::npos &&
         std::ranges::all_of(text, [](char c) { return c == '\n' || (c >= ' ' && c != '\x7f'); });
}

void emit_text(YAML::Emitter& out, const std::string& text, bool is_key) {
  const bool literal = !is_key && text.contains('\n') && fits_literal(text);
  if (literal) {  // its last newline is the end of the line it stands on
    out << YAML::Literal << text.substr(0, text.size() - 1);
    return;
  }
  if (is_word(text) || like_number(text) || text.contains('\n')) out << YAML::DoubleQuoted;
  out << text;
}

void emit(YAML::Emitter& out, const json& value) {
  if (value.is_object() && !value.empty()) {
    out << YAML::BeginMap;
    for (const auto& [key, item] : value.items()) {
      out << YAML::Key;
      emit_text(out, key, true);
      out << YAML::Value;
      emit(out, item);
    }
    out << YAML::EndMap;
  } else if (value.is_array() && !value.empty()) {
    out << YAML::BeginSeq;
    for (const json& item : value) emit(out, item);
    out << YAML::EndSeq;
  } else if (value.is_string()) {
    emit_text(out, value.get_ref<const std::string&>(), false);
  } else if (value.is_structured()) {
    out << YAML::Flow << (value.is_object() ? YAML::BeginMap : YAML::BeginSeq)
        << (value.is_object() ? YAML::EndMap : YAML::EndSeq);
  } else if (value.is_null()) {
    out << YAML::LowerNull << YAML::Null;
  } else {
    out << value.dump();  // true, 42: JSON is YAML
  }
}

}  // namespace

std::string to_yaml(const json& value) {
  YAML::Emitter out;
  emit(out, value);
  return std::string(out.c_str()) + "\n";
}

}  // namespace amdahl::kube

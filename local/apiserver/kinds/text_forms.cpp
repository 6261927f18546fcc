#include "local/apiserver/kinds/text_forms.hpp"

#include <utility>

#include "base/clock.hpp"
#include "operator/kube/quantity.hpp"

namespace amdahl::local {

namespace {

constexpr std::string_view kLetters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

bool digits(std::string_view text, std::size_t from, std::size_t count) {
  if (text.size() < from + count) return false;
  for (std::size_t i = from; i < from + count; ++i) {
    if (text[i] < '0' || text[i] > '9') return false;
  }
  return true;
}

std::unexpected<Error> bad_time(std::string_view text, bool micro, std::string_view rest,
                                std::string_view wanted) {
  return fail(Errc::kInvalid,
              "parsing time \"{}\" as \"2006-01-02T15:04:05{}Z07:00\": cannot parse "
              "\"{}\" as \"{}\"",
              text, micro ? ".000000" : "", rest, wanted);
}

}  // namespace

Result<void> canonical_quantity(nlohmann::json& value) {
  std::string text;
  if (value.is_string()) text = value.get<std::string>();
  if (value.is_number()) text = value.dump();
  auto quantity = kube::Quantity::parse(text);
  if (!quantity || text.empty()) {
    return fail(Errc::kInvalid,
                "quantities must match the regular expression "
                "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
  }
  value = quantity->to_string();
  return {};
}

Result<void> canonical_time(nlohmann::json& value, bool micro) {
  const std::string text = value.get<std::string>();
  if (!digits(text, 0, 4)) return bad_time(text, micro, text, "2006");
  const bool fraction = digits(text, 20, 6) && text[19] == '.' && !digits(text, 26, 1);
  if (micro && !fraction) {
    const std::string rest = text.size() > 19 ? text.substr(19) : std::string();
    return bad_time(text, micro, rest, ".000000");
  }
  const auto time = parse_time(text);
  if (!time) return bad_time(text, micro, text, "2006");
  value = micro ? format_micro_time(*time)
                : format_time(std::chrono::floor<std::chrono::seconds>(*time));
  return {};
}

Result<void> check_base64(std::string_view text) {
  const auto bad = [](std::size_t place) {
    return fail(Errc::kInvalid, "illegal base64 data at input byte {}", place);
  };
  std::size_t letters = 0;
  std::size_t padding = 0;
  std::size_t last = 0;  // where the last four begin
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n' || text[i] == '\r') continue;
    const bool is_letter = kLetters.find(text[i]) != std::string_view::npos;
    const bool may_pad = text[i] == '=' && letters % 4 >= 2 && padding < 4 - letters % 4;
    if (is_letter && padding == 0) {
      if (letters % 4 == 0) last = i;
      ++letters;
    } else if (may_pad) {
      ++padding;
    } else {
      return bad(i);
    }
  }
  if ((letters + padding) % 4 != 0) return bad(padding == 0 ? last : text.size());
  return {};
}

}  // namespace amdahl::local

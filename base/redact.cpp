#include "base/redact.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace amdahl {
namespace {

constexpr std::size_t kPrefixedTokenBytesMin = 16;  // "sk-1" is a name, "sk-..." of 20 is a key
constexpr std::size_t kUnquotedValueBytesMin = 20;  // "token: expired" is prose
constexpr std::size_t kKeyBytesMax = 64;
constexpr std::size_t kTokenHeadBytesMax = 1024;  // a JWT has its first dot within this

constexpr bool is_alpha(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
constexpr char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
}
// What tokens are made of: base64 in both alphabets, and the dots of a JWT.
constexpr bool is_token_char(char c) {
  return is_alpha(c) || is_digit(c) || c == '-' || c == '_' || c == '.' || c == '+' || c == '/' ||
         c == '=' || c == '~';
}
constexpr bool is_key_char(char c) {
  return is_alpha(c) || is_digit(c) || c == '-' || c == '_';
}

bool starts_with_ignoring_case(std::string_view text, std::string_view prefix) {
  return text.size() >= prefix.size() &&
         std::equal(prefix.begin(), prefix.end(), text.begin(),
                    [](char left, char right) { return left == lower(right); });
}

std::size_t token_length(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::find_if_not(text, is_token_char) - text.begin());
}

// "client-key-data", "clientKeyData" and "CLIENT_KEY_DATA" are the same three words.
std::vector<std::string> words_of(std::string_view key) {
  std::vector<std::string> words(1);
  for (std::size_t i = 0; i < key.size(); ++i) {
    const char c = key[i];
    const bool upper = c >= 'A' && c <= 'Z';
    const bool new_hump = upper && i > 0 && key[i - 1] >= 'a' && key[i - 1] <= 'z';
    if (!is_alpha(c) && !is_digit(c)) {
      words.emplace_back();
      continue;
    }
    if (new_hump) words.emplace_back();
    words.back().push_back(lower(c));
  }
  std::erase(words, "");
  return words;
}

// Each of these returns how many bytes at the start of `text` are a credential; 0: none.

std::size_t private_key_length(std::string_view text) {
  if (text.starts_with("LS0tLS1CRUdJTi")) return token_length(text);  // base64 of "-----BEGIN"
  constexpr std::string_view kBegin = "-----BEGIN ";
  if (!text.starts_with(kBegin)) return 0;
  const std::size_t label_end = text.find("-----", kBegin.size());
  const std::string_view label = text.substr(kBegin.size(), label_end - kBegin.size());
  if (label_end != text.npos && !label.ends_with("PRIVATE KEY")) return 0;
  const std::size_t end = text.find("-----END ", kBegin.size());
  if (end == text.npos) return text.size();
  const std::size_t tail = text.find("-----", end + 9);
  return tail == text.npos ? text.size() : tail + 5;
}

std::size_t web_token_length(std::string_view text) {
  if (!text.starts_with("eyJ")) return 0;
  const std::string_view head = text.substr(0, kTokenHeadBytesMax);
  const std::size_t length = token_length(head);
  const bool dotted = head.substr(0, length).find('.') != text.npos;
  return length >= kPrefixedTokenBytesMin && dotted ? token_length(text) : 0;
}

std::size_t prefixed_token_length(std::string_view text) {
  constexpr std::array<std::string_view, 10> kPrefixes = {
      "ya29.", "ghp_", "gho_", "ghs_", "github_pat_", "glpat-", "hf_", "sk-", "xoxb-", "AKIA"};
  if (std::ranges::none_of(kPrefixes, [&](auto prefix) { return text.starts_with(prefix); }))
    return 0;
  const std::size_t length = token_length(text.substr(0, kPrefixedTokenBytesMin));
  return length >= kPrefixedTokenBytesMin ? token_length(text) : 0;
}

// "Bearer abc": the scheme stays, so the length of it is returned too.
struct Credential {
  std::size_t kept = 0;
  std::size_t hidden = 0;
};

Credential scheme_credential(std::string_view text) {
  for (const std::string_view scheme : {"bearer ", "basic "}) {
    if (!starts_with_ignoring_case(text, scheme)) continue;
    const std::size_t length = token_length(text.substr(scheme.size()));
    if (length >= 8) return {scheme.size(), length};
  }
  return {};
}

// "://user:password@"
Credential url_credential(std::string_view text) {
  if (!text.starts_with("://")) return {};
  const std::size_t end = text.find_first_of("@/?# \t\r\n\"'", 3);
  if (end == text.npos || text[end] != '@') return {};
  return {3, end - 3};
}

// The value after `key=`, `key: "..."`, `"key":"..."`, `key: long-token`.
Credential keyed_credential(std::string_view text) {
  const auto key_end = std::ranges::find_if_not(text.substr(0, kKeyBytesMax), is_key_char);
  const std::size_t key_length = static_cast<std::size_t>(key_end - text.begin());
  if (key_length < 3 || !is_secret_key(text.substr(0, key_length))) return {};
  std::size_t at = key_length;
  if (at < text.size() && (text[at] == '"' || text[at] == '\'')) ++at;
  if (at >= text.size() || (text[at] != '=' && text[at] != ':')) return {};
  const bool equals = text[at++] == '=';
  while (at < text.size() && text[at] == ' ') ++at;
  if (at >= text.size()) return {};
  if (text[at] == '"' || text[at] == '\'') {
    const std::size_t end = text.find(text[at], at + 1);
    return {at + 1, (end == text.npos ? text.size() : end) - at - 1};
  }
  const std::size_t end = std::min(text.find_first_of(" \t\r\n\"',;&)}]", at), text.size());
  if (!equals && end - at < kUnquotedValueBytesMin) return {};
  return {at, end - at};
}

Credential credential_at(std::string_view text, bool at_word_start) {
  if (const std::size_t length = private_key_length(text)) return {0, length};
  if (const Credential found = url_credential(text); found.hidden > 0) return found;
  if (!at_word_start) return {};
  if (const std::size_t length = web_token_length(text)) return {0, length};
  if (const std::size_t length = prefixed_token_length(text)) return {0, length};
  if (const Credential found = scheme_credential(text); found.hidden > 0) return found;
  return keyed_credential(text);
}

}  // namespace

bool is_secret_key(std::string_view key) {
  const std::vector<std::string> words = words_of(key.substr(0, kKeyBytesMax));
  if (words.empty()) return false;
  // What describes a credential is not one.
  for (const std::string_view about : {"file", "path", "name", "namespace", "count", "seconds",
                                       "bytes", "age", "expiry", "expires", "kind", "type", "url"})
    if (words.back() == about) return false;
  for (const std::string& word : words)
    for (const std::string_view secret :
         {"token", "password", "passwd", "secret", "authorization", "credential", "credentials",
          "cookie", "apikey", "passphrase", "privatekey", "clientkey"})
      if (word == secret) return true;
  for (std::size_t i = 1; i < words.size(); ++i)
    for (const std::string_view owner : {"client", "private", "api", "access", "encryption"})
      if (words[i] == "key" && words[i - 1] == owner) return true;
  return false;
}

std::string redact(std::string_view text) {
  std::string clean;
  clean.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const bool at_word_start = at == 0 || !is_key_char(text[at - 1]);
    const Credential found = credential_at(text.substr(at), at_word_start);
    if (found.hidden == 0) {
      clean.push_back(text[at++]);
      continue;
    }
    clean += text.substr(at, found.kept);
    clean += kRedacted;
    at += found.kept + found.hidden;
  }
  return clean;
}

}  // namespace amdahl

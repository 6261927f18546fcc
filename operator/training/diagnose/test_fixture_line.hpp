// One line of a fixture: words, `key=value` pairs and a text in quotes.
#pragma once

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"

namespace amdahl::training {

[[noreturn]] inline void refuse(const std::string& line) {
  throw std::runtime_error("not understood: " + line);
}

// \xNN everywhere; in quotes also \n, \" and \\.
inline std::string unescape(std::string_view text, bool quoted) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char next = i + 1 < text.size() ? text[i + 1] : '\0';
    if (text[i] == '\\' && next == 'x' && i + 3 < text.size()) {
      out += static_cast<char>(std::stoi(std::string(text.substr(i + 2, 2)), nullptr, 16));
      i += 3;
    } else if (quoted && text[i] == '\\' && next != '\0') {
      out += next == 'n' ? '\n' : next;
      ++i;
    } else {
      out += text[i];
    }
  }
  return out;
}

// A line as words, `key=value` pairs and one text in quotes.
struct Line {
  std::string whole = {};
  std::vector<std::string> words = {};
  std::map<std::string, std::string> values = {};
  std::string text = {};

  explicit Line(std::string_view line) : whole(line) {
    std::size_t at = 0;
    while ((at = line.find_first_not_of(' ', at)) != std::string_view::npos) at = take(line, at);
  }
  const std::string& word(std::size_t index) const {
    if (index >= words.size()) refuse(whole);
    return words[index];
  }
  bool has(std::string_view word) const { return std::ranges::find(words, word) != words.end(); }
  std::string value(const std::string& key) const {
    const auto row = values.find(key);
    return row == values.end() ? std::string() : row->second;
  }
  std::optional<std::int64_t> number(const std::string& key) const {
    const std::string text_of = value(key);
    if (text_of.empty()) return std::nullopt;
    return std::stoll(text_of);
  }
  std::optional<WallTime> time(const std::string& key) const {
    const auto second = number(key);
    if (!second) return std::nullopt;
    return WallTime{std::chrono::seconds{1'700'000'000 + *second}};
  }

 private:
  std::size_t take(std::string_view line, std::size_t at) {
    const auto quoted = [&](std::size_t open) {
      std::size_t close = open + 1;
      while (close < line.size() && line[close] != '"') close += line[close] == '\\' ? 2 : 1;
      if (close >= line.size()) refuse(whole);
      return close;
    };
    if (line[at] == '"') {
      const std::size_t close = quoted(at);
      text = unescape(line.substr(at + 1, close - at - 1), true);
      return close + 1;
    }
    std::size_t end = std::min(line.find_first_of(" =", at), line.size());
    if (end == line.size() || line[end] == ' ') {
      words.emplace_back(line.substr(at, end - at));
      return end;
    }
    const std::string key(line.substr(at, end - at));
    if (end + 1 < line.size() && line[end + 1] == '"') {
      const std::size_t close = quoted(end + 1);
      values[key] = unescape(line.substr(end + 2, close - end - 2), true);
      return close + 1;
    }
    const std::size_t stop = std::min(line.find(' ', end), line.size());
    values[key] = line.substr(end + 1, stop - end - 1);
    return stop;
  }
};

}  // namespace amdahl::training

// The kept corpus of tests/fuzz, with what each of its requests must become.
#include <fmt/ranges.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "base/http_message.hpp"

namespace amdahl {
namespace {
using Step = HttpRequestParser::Step;

const std::filesystem::path kCorpus = "tests/fuzz/corpus/http_request";

// The limits of tests/fuzz/fuzz_http_request.cpp.
constexpr HttpLimits kLimits{.header_bytes_max = 1024,
                             .target_bytes_max = 256,
                             .fields_max = 16,
                             .query_pairs_max = 8,
                             .body_bytes_max = 1024};

// "POST /a body; GET /b; 400": the requests of one connection, and how it ends.
std::string outcome(std::string_view bytes, std::size_t piece) {
  std::vector<std::string> seen;
  for (std::string input;;) {
    HttpRequestParser parser(kLimits);
    Step step = Step::kNeedMore;
    while ((step = parser.advance(input)) == Step::kHead || step == Step::kNeedMore) {
      if (step == Step::kHead) continue;
      if (bytes.empty()) {
        if (seen.empty() || !input.empty()) seen.emplace_back("more");
        return fmt::format("{}", fmt::join(seen, "; "));
      }
      input += bytes.substr(0, piece);
      bytes.remove_prefix(std::min(piece, bytes.size()));
    }
    if (step == Step::kRefused) {
      seen.push_back(std::to_string(parser.refusal().status));
      return fmt::format("{}", fmt::join(seen, "; "));
    }
    const HttpRequest request = parser.take();
    seen.push_back(request.method + " " + request.path + (request.body.empty() ? "" : " ") +
                   request.body);
  }
}

bool is_one_of(const std::string& text, const std::string& words) {
  return ("|" + words + "|").contains("|" + text + "|");
}

// A cut that hides the end of the head from Beast may delay a refusal: "400|more".
const std::map<std::string, std::string> kExpected = {
    {"absolute", "GET /p"},
    {"bare_cr_in_value", "400"},
    {"bare_lf", "505|more"},
    {"bare_lf_in_chunk", "400"},
    {"bare_lf_in_head", "400"},
    {"chunk_negative", "400"},
    {"chunk_of_ten", "POST /a 0123456789"},
    {"chunk_without_end", "400"},
    {"chunked", "POST /a abcde"},
    {"chunked_1_0", "400"},
    {"chunked_and_length", "400"},
    {"chunked_empty", "POST /a"},
    {"chunked_not_last", "501"},
    {"chunked_quoted", "501"},
    {"chunked_twice", "400"},
    {"chunked_vtab", "400"},
    {"coding_empty", "501"},
    {"coding_empty_and_chunked", "501"},
    {"dot_dot", "400"},
    {"empty_lines_first", "400"},
    {"encoded_slash", "400"},
    {"expect", "POST /a hi"},
    {"get", "GET /apis"},
    {"http_1_0", "GET /"},
    {"http_2", "505"},
    {"length", "POST /a hello"},
    {"length_and_chunked", "400"},
    {"length_hex", "400"},
    {"length_list", "400"},
    {"length_overflow", "400"},
    {"length_sign", "400"},
    {"length_space", "400"},
    {"no_host", "400"},
    {"nul_in_value", "400"},
    {"obs_fold", "400"},
    {"obs_fold_chunked", "400"},
    {"overflowing_chunk", "400"},
    {"oversized_chunk", "413"},
    {"oversized_chunks", "413"},
    {"oversized_extension", "431"},
    {"oversized_head", "431"},
    {"oversized_length", "413"},
    {"oversized_line", "414"},
    {"oversized_target", "414"},
    {"pipelined", "POST /a hi; GET /b"},
    {"same_length_twice", "400"},
    {"tls_hello", "400"},
    {"too_many_fields", "431"},
    {"truncated_body", "more"},
    {"truncated_chunk", "more"},
    {"truncated_head", "more"},
    {"truncated_line", "more"},
    {"truncated_trailer", "more"},
    {"two_hosts", "400"},
    {"two_lengths", "400"},
};

TEST_CASE("HttpRequestParser reads every kept request in one way, and refuses what has two",
          "[C8]") {
  for (const auto& [name, expected] : kExpected) {
    INFO(name);
    std::ifstream file(kCorpus / name, std::ios::binary);
    REQUIRE(file);
    std::string bytes{std::istreambuf_iterator<char>(file), {}};
    bytes.erase(0, 1);  // how the fuzzer cuts it
    for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, bytes.size() + 1}) {
      const std::string got = outcome(bytes, piece);
      INFO(got << " where " << expected << " was expected");
      CHECK(is_one_of(got, expected));
    }
  }
}

}  // namespace
}  // namespace amdahl

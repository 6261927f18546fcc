// Requests cut anywhere are the same as those that came whole, each beginning where the one before
// it ended, and what is accepted can be read in one way only: nothing is smuggled behind it.
#include <algorithm>
#include <cctype>
#include <cstdint>
#include <string>
#include <vector>

#include "base/check.hpp"
#include "base/http_message.hpp"

namespace {
using namespace amdahl;

// Small, so that the fuzzer reaches every one of them; base/http_request_parser_test.cpp replays
// the corpus with the same.
constexpr HttpLimits kLimits{.header_bytes_max = 1024,
                             .target_bytes_max = 256,
                             .fields_max = 16,
                             .query_pairs_max = 8,
                             .body_bytes_max = 1024};
constexpr std::size_t kRequestsMax = 64;

void check_request(const HttpRequest& request) {
  AMDAHL_CHECK(request.body.size() <= kLimits.body_bytes_max);
  AMDAHL_CHECK(request.target.size() <= kLimits.target_bytes_max);
  AMDAHL_CHECK(request.headers.size() <= kLimits.fields_max);
  AMDAHL_CHECK(request.query.size() <= kLimits.query_pairs_max);
  AMDAHL_CHECK(request.path == "*" || request.path.starts_with('/'));
  AMDAHL_CHECK(request.path.find('\0') == std::string::npos);
  AMDAHL_CHECK((request.path + "/").find("/../") == std::string::npos);
  // Two lengths are two opinions on where the next request begins.
  std::size_t lengths = 0;
  for (const HttpHeader& header : request.headers) {
    AMDAHL_CHECK(!header.name.empty());
    for (const std::string_view text : {header.name, header.value})
      AMDAHL_CHECK(text.find_first_of(std::string_view("\r\n\0", 3)) == text.npos);
    std::string name = header.name;
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
    if (name == "content-length" || name == "transfer-encoding") ++lengths;
  }
  AMDAHL_CHECK(lengths <= 1);
}

// The requests of one connection, as far as they are whole and accepted.
std::vector<HttpRequest> parse(std::string_view bytes, std::size_t piece) {
  using Step = HttpRequestParser::Step;
  std::vector<HttpRequest> requests;
  std::string input;
  while (requests.size() < kRequestsMax) {
    HttpRequestParser parser(kLimits);
    Step step = Step::kNeedMore;
    while ((step = parser.advance(input)) == Step::kHead || step == Step::kNeedMore) {
      if (step == Step::kHead) continue;
      AMDAHL_CHECK(input.size() <= kLimits.header_bytes_max);  // what waits is bounded
      if (bytes.empty()) return requests;
      input += bytes.substr(0, piece);
      bytes.remove_prefix(std::min(piece, bytes.size()));
    }
    if (step == Step::kRefused) {
      AMDAHL_CHECK(parser.refusal().status >= 400 && parser.refusal().status < 600);
      return requests;
    }
    requests.push_back(parser.take());
    check_request(requests.back());
  }
  return requests;
}

bool same(const HttpRequest& a, const HttpRequest& b) {
  const auto same_header = [](const HttpHeader& x, const HttpHeader& y) {
    return x.name == y.name && x.value == y.value;
  };
  return a.method == b.method && a.target == b.target && a.path == b.path && a.query == b.query &&
         a.body == b.body && std::ranges::equal(a.headers, b.headers, same_header);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  // A refusal may come later when the end of the head is not in sight, but never a request.
  AMDAHL_CHECK(
      std::ranges::equal(parse(bytes, bytes.size() + 1), parse(bytes, data[0] + 1U), same));
  return 0;
}

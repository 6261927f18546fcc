// A response cut anywhere decodes to the same body as one that came whole, and never crashes.
#include <cstdint>
#include <string>
#include <vector>

#include "base/check.hpp"
#include "operator/kube/http_framing.hpp"

namespace {
using namespace amdahl::kube;

struct Seen {
  std::string body;
  int status = 0;
  bool failed = false;
  bool done = false;
  bool operator==(const Seen&) const = default;
};

// Feeds `piece` bytes at a time and keeps what is not consumed, as a connection does.
Seen decode(std::string_view bytes, std::size_t piece) {
  ResponseFraming framing;
  Seen seen;
  std::string waiting;
  std::vector<char> output(4096);
  while (!seen.failed && !seen.done && (!bytes.empty())) {
    waiting += bytes.substr(0, piece);
    bytes.remove_prefix(std::min(piece, bytes.size()));
    if (!framing.head_done()) {
      const auto head = framing.read_head(waiting);
      seen.failed = !head;
      if (head) waiting.erase(0, *head);
    }
    while (framing.head_done() && !seen.failed && !framing.body_done()) {
      const auto step = framing.decode_body(waiting, output);
      seen.failed = !step;
      if (!step || (step->consumed == 0 && step->produced == 0)) break;
      seen.body.append(output.data(), step->produced);
      waiting.erase(0, step->consumed);
    }
    seen.done = framing.head_done() && framing.body_done();
  }
  if (framing.head_done()) seen.status = framing.head().status;
  return seen;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const Seen whole = decode(bytes, bytes.size() + 1);
  const Seen pieces = decode(bytes, data[0] + 1U);
  AMDAHL_CHECK(whole.failed == pieces.failed && whole.done == pieces.done);
  if (!whole.failed) AMDAHL_CHECK(whole == pieces);
  return 0;
}

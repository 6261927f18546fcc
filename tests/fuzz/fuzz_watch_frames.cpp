// A watch body cut anywhere gives the same events as one that came whole, and never crashes.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "base/check.hpp"
#include "operator/kube/watch_frames.hpp"

namespace {
using namespace amdahl;
using namespace amdahl::kube;

std::vector<std::string> events(std::string_view body, Encoding encoding, std::size_t piece) {
  WatchFrames frames(encoding);
  std::vector<std::string> seen;
  while (!body.empty()) {
    const std::string_view part = body.substr(0, piece);
    body.remove_prefix(part.size());
    std::ranges::copy(part, frames.prepare(part.size()).begin());
    frames.filled(part.size());
    for (;;) {
      const auto frame = frames.next();
      if (!frame) {
        seen.emplace_back("error");
        return seen;
      }
      if (!*frame) break;
      const auto parsed = parse_frame(**frame, encoding);
      seen.push_back(parsed ? std::string(parsed->object) : "undecodable");
    }
  }
  return seen;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const Encoding encoding = (data[0] & 1U) != 0 ? Encoding::kProtobuf : Encoding::kJson;
  const std::string_view body(reinterpret_cast<const char*>(data) + 2, size - 2);
  AMDAHL_CHECK(events(body, encoding, body.size() + 1) == events(body, encoding, data[1] + 1U));
  return 0;
}

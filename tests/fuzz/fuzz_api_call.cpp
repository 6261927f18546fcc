// A few requests to the embedded API server, as a client with a token may send them. Every answer
// is well formed, a refusal changes nothing and says so in a Status, versions never go back, and
// what is stored afterwards can be read into a new server.
//
// Input: requests separated by a line "--"; "METHOD target", "accept|content type", then the body.
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.hpp"
#include "local/apiserver/core/api_server.hpp"
#include "local/apiserver/rules/served_kinds.hpp"

namespace {
using namespace amdahl;
using namespace amdahl::local;

constexpr std::size_t kCallsMax = 8;
constexpr int kFramesMax = 50;
constexpr WallTime kNow{std::chrono::seconds{1'700'000'000}};

class Nobody final : public Identities {
  std::optional<Owner> owner_of(std::string_view /*token*/, WallTime /*now*/) const override {
    return std::nullopt;
  }
  std::optional<Issued> issue(const Wish& /*wish*/, WallTime /*now*/) override {
    return std::nullopt;
  }
};

const BuiltinSchemas& schemas() {
  static const BuiltinSchemas read_once;
  return read_once;
}

struct World {
  Nobody nobody;
  ServedKinds rules{schemas(), nobody, "127.0.0.1"};
  ApiServer server{rules, Rng(1)};
};

std::string_view take(std::string_view& text, std::string_view until) {
  const std::size_t at = text.find(until);
  const std::string_view head = text.substr(0, at);
  text.remove_prefix(at == std::string_view::npos ? text.size() : at + until.size());
  return head;
}

Call read_call(std::string_view text) {
  std::string_view line = take(text, "\n");
  std::string_view types = take(text, "\n");
  Call call;
  call.method = take(line, " ");
  call.target = line;
  call.accept = take(types, "|");
  call.content_type = types;
  call.user_agent = "fuzz/1";
  call.body = text;
  call.user = {.name = "fuzz", .groups = {"system:masters"}};
  return call;
}

void check_reply(const ApiServer& server, const Reply& reply, std::uint64_t before) {
  AMDAHL_CHECK(reply.status >= 200 && reply.status < 600);
  AMDAHL_CHECK(server.version() >= before);
  if (reply.status >= 300) AMDAHL_CHECK(server.version() == before && !reply.stream);
  if (reply.stream || !reply.content_type.starts_with("application/json")) return;
  if (reply.body.empty()) return;
  const Json body = Json::parse(reply.body, nullptr, false);
  AMDAHL_CHECK(!body.is_discarded());
  if (reply.status >= 300 && body.value("kind", "") == "Status")
    AMDAHL_CHECK(body.at("code") == reply.status);
}

void read_stream(Reply& reply) {
  for (int frame = 0; reply.stream && frame < kFramesMax; ++frame)
    if (reply.stream->next().ready != WatchStream::Ready::kFrame) return;
}

void check_restart(ApiServer& server, const std::vector<Mutation>& written) {
  std::map<std::pair<std::string, std::string>, std::string> kept;
  for (const Mutation& one : written)
    kept[{one.storage, one.key}] = one.object ? std::string(one.object->text) : "";
  std::vector<Restored> objects;
  for (const auto& [place, text] : kept)
    if (!text.empty()) objects.push_back({.storage = place.first, .text = text});
  World next;
  AMDAHL_CHECK(next.server.load(objects, server.version()).has_value());
  AMDAHL_CHECK(next.server.version() == server.version());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  World world;
  std::vector<Mutation> written;
  WallTime now = kNow;
  for (std::size_t count = 0; count < kCallsMax && !text.empty(); ++count) {
    const std::uint64_t before = world.server.version();
    Reply reply = world.server.handle(read_call(take(text, "\n--\n")), now);
    check_reply(world.server, reply, before);
    read_stream(reply);
    now += std::chrono::seconds{1};
    (void)world.server.tick(now);
    for (Mutation& one : world.server.take_mutations()) written.push_back(std::move(one));
    world.server.committed(world.server.version());
  }
  check_restart(world.server, written);
  return 0;
}

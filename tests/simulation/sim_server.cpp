#include "tests/simulation/sim_server.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/check.hpp"
#include "tests/simulation/subject.hpp"

namespace amdahl::simulation {
namespace {

constexpr std::chrono::seconds kTick{2};
constexpr std::chrono::milliseconds kGarbageDelay{20};
const Actor kCollector{.name = "collector"};
const Actor kSomebody{.name = "somebody"};

class NoTokens final : public local::Identities {
 public:
  std::optional<Owner> owner_of(std::string_view, WallTime) const override { return {}; }
  std::optional<Issued> issue(const Wish&, WallTime) override { return {}; }
};

void post(local::ApiServer& server, std::string target, std::string body) {
  const local::Reply made = server.handle({.method = "POST",
                                           .target = std::move(target),
                                           .accept = "application/json",
                                           .content_type = "application/json",
                                           .user_agent = kSomebody.name,
                                           .body = std::move(body),
                                           .user = {.name = kSomebody.name}},
                                          ManualClock().wall());
  AMDAHL_CHECK(made.status == 201);
}

}  // namespace

StartState::StartState(const local::BuiltinSchemas& schemas,
                       const std::vector<std::string>& definitions)
    : identities_(std::make_unique<NoTokens>()), kinds_(schemas, *identities_, "127.0.0.1:6443") {
  local::ApiServer server(kinds_, Rng(1));
  post(server, "/api/v1/namespaces", Json{{"metadata", {{"name", kNamespace}}}}.dump());
  for (const std::string& definition : definitions)
    post(server, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition);
  for (const local::Mutation& mutation : server.take_mutations())
    objects_.push_back({.storage = mutation.storage, .text = mutation.object->text});
  version_ = server.version();
}

SimServer::SimServer(const StartState& start, Rng rng, ManualClock& clock, Agenda& agenda,
                     Ledger& ledger)
    : clock_(clock), agenda_(agenda), ledger_(ledger), kinds_(start.kinds_), server_(kinds_, rng) {
  AMDAHL_CHECK(server_.load(start.objects_, start.version_));
  const local::ObjectTable& all = server_.table();
  for (local::ResourceId id = 0; id < all.resources(); ++id)
    for (const auto& [key, object] : all.objects(id))
      ledger_.there_already(all.storage(id), *object);
  agenda_.in(kTick, [this] { tick(); });
}

local::Reply SimServer::handle(const Actor& actor, const local::Call& call) {
  if (call.method != "GET") ledger_.attempted(actor, call.method, call.target, clock_.monotonic());
  local::Reply reply = server_.handle(call, wall());
  happened(actor);
  return reply;
}

int SimServer::write(const Actor& actor, std::string method, std::string target, std::string body) {
  const std::string type = method == "PATCH" ? "application/merge-patch+json" : "application/json";
  return handle(actor, {.method = std::move(method),
                        .target = std::move(target),
                        .accept = "application/json",
                        .content_type = type,
                        .user_agent = actor.name,
                        .body = std::move(body),
                        .user = {.name = actor.name}})
      .status;
}

Json SimServer::read(std::string target) {
  const local::Reply reply = server_.handle(
      {.method = "GET", .target = std::move(target), .accept = "application/json"}, wall());
  return Json::parse(reply.body, nullptr, false);
}

void SimServer::forget() {
  write(kSomebody, "PATCH", fmt::format("/api/v1/namespaces/{}", kNamespace),
        fmt::format(R"({{"metadata":{{"annotations":{{"seen":"{}"}}}}}})", version()));
  compact();
}

void SimServer::follow(std::unique_ptr<local::WatchStream> stream, std::weak_ptr<WatchFeed> feed) {
  followed_.push_back({.stream = std::move(stream), .feed = std::move(feed)});
  pull(followed_.back());
}

void SimServer::happened(const Actor& actor) {
  const std::vector<local::Mutation> mutations = server_.take_mutations();
  if (mutations.empty()) return;
  server_.committed(server_.version());
  ledger_.note(actor, mutations, clock_.monotonic());
  for (const local::Mutation& mutation : mutations) {
    if (on_mutation_) on_mutation_(mutation);
    if (!mutation.object || mutation.object->deleting) tick_soon();
  }
  for (Followed& followed : followed_) pull(followed);
}

void SimServer::pull(Followed& followed) {
  const auto feed = followed.feed.lock();
  if (!feed) followed.ended = true;
  while (!followed.ended) {
    local::WatchStream::Next next = followed.stream->next();
    if (next.ready == local::WatchStream::Ready::kNothingYet) return;
    if (next.ready == local::WatchStream::Ready::kEnd) {
      followed.ended = true;
      feed->end();
    } else if (!next.bytes.empty()) {
      feed->take(std::move(next.bytes));
    }
  }
}

void SimServer::tick_soon() {
  if (tick_scheduled_) return;
  tick_scheduled_ = true;
  agenda_.in(kGarbageDelay, [this] {
    tick_scheduled_ = false;
    if (server_.tick(wall())) tick_soon();
    happened(kCollector);
  });
}

void SimServer::tick() {
  if (server_.tick(wall())) tick_soon();
  happened(kCollector);
  for (Followed& followed : followed_) pull(followed);
  std::erase_if(followed_, [](const Followed& followed) { return followed.ended; });
  agenda_.in(kTick, [this] { tick(); });
}

}  // namespace amdahl::simulation

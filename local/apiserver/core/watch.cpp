#include "local/apiserver/core/watch.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace amdahl::local {
namespace {

using std::chrono::seconds;

constexpr std::size_t kInitialPage = 200;
constexpr std::int64_t kTimeoutSecondsMax = std::int64_t{1} << 31;

// Refused after it was accepted: one ERROR event.
class FailedWatch final : public WatchStream {
 public:
  explicit FailedWatch(const Status& status) : status_(status) {}
  Next next() override {
    if (told_) return {.ready = Ready::kEnd};
    told_ = true;
    return {.ready = Ready::kFrame,
            .bytes =
                fmt::format("{{\"type\":\"ERROR\",\"object\":{}}}\n", json_text(to_json(status_)))};
  }

 private:
  Status status_;
  bool told_ = false;
};

Reply stream_reply(std::unique_ptr<WatchStream> stream) {
  Reply reply;
  reply.stream = std::move(stream);
  return reply;
}

Status too_old(std::uint64_t version, std::uint64_t floor) {
  return expired(fmt::format("too old resource version: {} ({})", version, floor));
}

Status invalid_version(const Request& request, std::string_view why) {
  constexpr std::string_view kField = "resourceVersion: ";
  return invalid(request.info->resource_name(), "",
                 {{.reason = std::string(kCauseInvalid),
                   .message = std::string(why.substr(kField.size())),
                   .field = "resourceVersion"}});
}

WallTime end_of(ServerState& state, const Query& query) {
  const std::int64_t wanted = query.timeout_seconds.value_or(0);
  if (wanted > 0) return state.now + seconds(std::min(wanted, kTimeoutSecondsMax));
  return state.now + std::chrono::duration_cast<std::chrono::microseconds>(
                         state.rng.jitter(state.options.watch_life_min, 1.0));
}

}  // namespace

Outcome<Reply> watch(ServerState& state, Request& request) {
  Query& query = request.query;
  query.watch = true;
  OUTCOME_CHECK(check_list_options(query));
  OUTCOME_TRY(Selection selection, selection_of(state, request));
  auto parsed_version = parse_version(query.resource_version);
  if (!parsed_version) return invalid_version(request, parsed_version.error().message);
  const std::optional<std::uint64_t> wanted = *parsed_version;
  const bool listing = query.send_initial_events.value_or(!wanted);
  const std::uint64_t current = state.table.version();
  if (listing && wanted && *wanted > current)
    return stream_reply(std::make_unique<FailedWatch>(too_large_version(*wanted, current)));
  const std::uint64_t from = listing ? current : wanted.value_or(current);
  if (!listing && from <= current && !state.table.readable(request.resource, from))
    return stream_reply(std::make_unique<FailedWatch>(
        too_old(from, state.table.history().floor(request.resource))));
  ObjectWatch::Plan plan{
      .info = *request.info,
      .resource = request.resource,
      .selection = std::move(selection),
      .as = render_as(state, request),
      .bookmarks = query.bookmarks,
      .initial = listing,
      .initial_end = query.bookmarks && query.send_initial_events.value_or(false),
      .version = from,
      .ends = end_of(state, query)};
  return stream_reply(std::make_unique<ObjectWatch>(state, std::move(plan)));
}

ObjectWatch::ObjectWatch(const ServerState& state, Plan plan)
    : state_(state),
      plan_(std::move(plan)),
      next_bookmark_(state.now + state.options.bookmark_every) {
  plan_.as.info = &plan_.info;  // kinds may go while a watch stays
}

WatchStream::Next ObjectWatch::next() {
  if (ended_ || state_.now >= plan_.ends) return {.ready = Ready::kEnd};
  plan_.as.now = state_.now;
  // What the journal does not have yet could still be lost.
  if (plan_.initial && plan_.version > state_.table.durable()) return idle();
  const std::uint64_t floor = state_.table.history().floor(plan_.resource);
  if (plan_.version < floor) return failed(too_old(plan_.version, floor));
  return plan_.initial ? initial_events() : live_events();
}

WatchStream::Next ObjectWatch::initial_events() {
  const Page page = state_.table.page(
      plan_.resource,
      {.prefix = plan_.selection.prefix,
       .start = start_,
       .version = plan_.version,
       .limit = kInitialPage,
       .count_rest = false},
      [&](const StoredObject& object) { return plan_.selection.matches(object); });
  std::string bytes;
  for (const ObjectPtr& item : page.items) add_event(bytes, "ADDED", *item);
  start_ = page.next;
  if (start_.empty()) {
    plan_.initial = false;
    if (plan_.initial_end) bytes += bookmark(true);
  }
  if (bytes.empty()) return live_events();
  return {.ready = Ready::kFrame, .bytes = std::move(bytes)};
}

WatchStream::Next ObjectWatch::live_events() {
  const std::deque<Event>& events = state_.table.history().events(plan_.resource);
  const std::uint64_t durable = state_.table.durable();
  std::size_t at = state_.table.history().first_after(plan_.resource, plan_.version);
  std::string bytes;
  const std::size_t stop = std::min(events.size(), at + kFrameEventsMax);
  for (; at < stop && events[at].version <= durable; ++at) {
    add_change(bytes, events[at]);
    plan_.version = events[at].version;
    if (bytes.size() >= kFrameBytesTarget) break;
  }
  if (!bytes.empty()) return {.ready = Ready::kFrame, .bytes = std::move(bytes)};
  const bool more = at < events.size() && events[at].version <= durable;
  // Nothing matched so far; an empty frame asks the reader to come again.
  if (more) return {.ready = Ready::kFrame};
  // All of this resource up to here is known, which lets the position leave the past behind.
  plan_.version = std::max(plan_.version, durable);
  return idle();
}

WatchStream::Next ObjectWatch::idle() {
  const bool due = plan_.bookmarks && !plan_.initial && state_.now >= next_bookmark_ &&
                   plan_.version <= state_.table.durable();
  if (!due) return {};
  return {.ready = Ready::kFrame, .bytes = bookmark(false)};
}

WatchStream::Next ObjectWatch::failed(const Status& status) {
  ended_ = true;
  return FailedWatch(status).next();
}

void ObjectWatch::add_event(std::string& bytes, std::string_view type, const StoredObject& object) {
  bytes += "{\"type\":\"";
  bytes += type;
  bytes += "\",\"object\":";
  bytes += render_object(state_.rules, plan_.as, object);
  bytes += "}\n";
  plan_.as.table_headers = false;
}

// An object enters, changes within, or leaves the selection.
void ObjectWatch::add_change(std::string& bytes, const Event& event) {
  const Selection& selection = plan_.selection;
  const bool was = event.before && selection.matches(*event.before);
  const bool is = !event.removed && selection.matches(*event.now);
  if (is) {
    add_event(bytes, was ? "MODIFIED" : "ADDED", *event.now);
  } else if (was && event.removed) {
    add_event(bytes, "DELETED", *event.now);
  } else if (was) {
    add_event(bytes, "DELETED", *with_version(*event.before, event.version));
  }
}

std::string ObjectWatch::bookmark(bool initial_end) {
  next_bookmark_ = state_.now + state_.options.bookmark_every;
  Json meta = {{"resourceVersion", std::to_string(plan_.version)}};
  if (initial_end) meta["annotations"] = {{"k8s.io/initial-events-end", "true"}};
  const bool whole = plan_.as.accepted.form == ObjectForm::kWhole;
  Json object = whole ? state_.rules.unset(plan_.info) : Json::object();
  object["kind"] = whole ? plan_.info.kind : "PartialObjectMetadata";
  object["apiVersion"] = whole ? plan_.info.api_version() : "meta.k8s.io/v1";
  object["metadata"] = std::move(meta);
  if (plan_.as.accepted.form == ObjectForm::kTable)
    object = {{"kind", "Table"},
              {"apiVersion", "meta.k8s.io/v1"},
              {"metadata", {{"resourceVersion", std::to_string(plan_.version)}}},
              {"columnDefinitions",
               plan_.as.table_headers ? state_.rules.table_columns(plan_.info) : Json()},
              {"rows", {{{"cells", Json::array()}, {"object", object}}}}};
  plan_.as.table_headers = false;
  return fmt::format("{{\"type\":\"BOOKMARK\",\"object\":{}}}\n", json_text(object));
}

}  // namespace amdahl::local

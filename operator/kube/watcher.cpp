#include "operator/kube/watcher.hpp"

#include <algorithm>

#include "base/json_decode.hpp"
#include "base/wire_decode.hpp"
#include "operator/kube/list_page.hpp"
#include "operator/kube/types.hpp"

namespace amdahl::kube {
namespace {

constexpr std::uint32_t kTimeoutSecondsMin = 300;  // L8: a random 5 to 10 minutes
constexpr std::uint32_t kTimeoutSecondsSpread = 300;
constexpr std::chrono::seconds kIdleGrace{5};
constexpr std::chrono::minutes kAuditInterval{5};  // L4
// Most watches are silent, and a first list is long: room grows while it is filled.
constexpr std::size_t kReadBytesMin = 8U << 10U;
constexpr std::size_t kReadBytesMax = 128U << 10U;
constexpr double kBackoffJitter = 1.0;  // L9
constexpr std::string_view kInitialEventsEnd = "k8s.io/initial-events-end";

Encoding encoding_of(const Response& head) {
  return head.header("Content-Type").starts_with("application/vnd.kubernetes.protobuf")
             ? Encoding::kProtobuf
             : Encoding::kJson;
}

struct Partial {
  ObjectMeta metadata;
};
template <class V>
constexpr void fields(V& v, Partial& object) {
  v.optional("metadata", object.metadata, {.wire = 1});
}

bool is_version_too_large(const Status& status) {
  return std::ranges::any_of(status.details.causes, [](const StatusCause& cause) {
    return cause.reason == "ResourceVersionTooLarge";
  });
}

template <class T>
Result<T> decode_any(const WatchFrame& frame) {
  return frame.encoding == Encoding::kProtobuf ? decode_wire<T>(frame.object)
                                               : amdahl::decode<T>(frame.object);
}

}  // namespace

Watcher::Watcher(Client& client, Rng rng, WatcherOptions options, ObjectSink& sink)
    : client_(client),
      clock_(client.clock()),
      rng_(rng),
      options_(std::move(options)),
      sink_(sink),
      state_(first_state()) {}

// "watch pods in research", as the requests themselves are named.
std::string Watcher::described() const {
  return fmt::format("watch {}{}{}", options_.resource.plural, options_.ns.empty() ? "" : " in ",
                     options_.ns);
}

Task<void> Watcher::run() {
  last_audit_ = last_heard_ = clock_.monotonic();
  for (;;) {
    const bool paged = std::holds_alternative<PagedListing>(state_.phase);
    const auto pause = co_await (paged ? list_round() : stream_round());
    if (!pause) co_return;
    if (pause->count() > 0 && !co_await clock_.sleep_for(rng_.jitter(*pause, kBackoffJitter)))
      co_return;
    if (!broke_ && clock_.monotonic() - last_audit_ < kAuditInterval) continue;
    if (!co_await audit_round()) co_return;
  }
}

Watcher::Round Watcher::stream_round() {
  const auto* listing = std::get_if<StreamListing>(&state_.phase);
  if (listing != nullptr) {
    ++counts_.lists;
    sink_.begin_stage();
  }
  const std::uint32_t timeout =
      kTimeoutSecondsMin + static_cast<std::uint32_t>(rng_.below(kTimeoutSecondsSpread));
  auto request =
      watch_request(options_.resource,
                    {.ns = options_.ns,
                     .labels = options_.labels,
                     .fields = options_.fields,
                     .version = listing ? listing->floor : std::get<Watching>(state_.phase).version,
                     .initial_events = listing != nullptr,
                     .timeout_seconds = timeout},
                    options_.shape);
  if (!request) co_return failed(request.error());
  const Monotonic start = clock_.monotonic();
  auto opened = co_await client_.open(*std::move(request));
  if (!opened) co_return failed(opened.error());
  ++counts_.opened;

  const Encoding encoding = encoding_of(opened->head);
  WatchFrames frames(encoding);
  // The server ends the watch itself; a connection that outlives that is dead (L8).
  const Monotonic deadline = start + std::chrono::seconds{timeout} + kIdleGrace;
  const std::uint64_t events_before = counts_.events;
  std::size_t room = kReadBytesMin;
  for (;;) {
    const auto read = co_await opened->body->read(frames.prepare(room), deadline);
    if (!read && read.error().code == Errc::kCancelled) co_return std::unexpected(read.error());
    if (!read) broke(read.error());
    if (!read || *read == 0) break;
    last_heard_ = clock_.monotonic();
    frames.filled(*read);
    if (*read >= room) room = std::min(2 * room, kReadBytesMax);
    for (;;) {
      const auto frame = frames.next();
      if (!frame) {
        undecodable(frame.error());
        co_return delay_;
      }
      if (!*frame) break;
      if (!on_frame(**frame, encoding)) co_return delay_;
    }
  }
  const auto lived = std::chrono::floor<std::chrono::milliseconds>(clock_.monotonic() - start);
  feed(Ended{.lived = lived, .any_event = counts_.events != events_before});
  co_return delay_;
}

Watcher::Round Watcher::list_round() {
  ++counts_.lists;
  sink_.begin_stage();
  while (const auto* listing = std::get_if<PagedListing>(&state_.phase)) {
    const bool first = listing->next_page.empty();
    // A continue token carries its own version; naming one beside it is an error.
    const bool with_floor = first && !listing->floor.empty();
    auto request = list_request(options_.resource,
                                {.ns = options_.ns,
                                 .labels = options_.labels,
                                 .fields = options_.fields,
                                 .limit = options_.page_size,
                                 .continue_token = listing->next_page,
                                 .version = with_floor ? listing->floor : "",
                                 .version_match = with_floor ? "NotOlderThan" : ""},
                                options_.shape);
    if (!request) co_return failed(request.error());
    auto response = co_await client_.send(*std::move(request));
    if (!response) co_return failed(response.error());
    last_heard_ = clock_.monotonic();
    const auto page = read_list_page(*response, [this](RawObject item) -> Result<void> {
      if (decode(item)) sink_.stage();
      return {};
    });
    if (!page) {
      undecodable(page.error());
      co_return delay_;
    }
    if (!feed(PageRead{.version = page->version, .next_page = page->next_page})) co_return delay_;
  }
  co_return std::chrono::milliseconds{0};
}

// A restored server accepts a watch from a version it does not have yet, and says nothing (L4). So
// its versions are looked at after every break, and now and then without one.
Watcher::Round Watcher::audit_round() {
  last_audit_ = clock_.monotonic();
  broke_ = false;
  if (!std::holds_alternative<Watching>(state_.phase)) co_return std::chrono::milliseconds{0};
  auto request = list_request(options_.resource, {.ns = options_.ns, .limit = 1}, options_.shape);
  if (!request) co_return failed(request.error());
  auto response = co_await client_.send(*std::move(request));
  if (!response && response.error().code == Errc::kCancelled)
    co_return std::unexpected(response.error());
  if (!response) {
    broke(response.error());
    co_return std::chrono::milliseconds{0};
  }
  const auto page = read_list_page(*response, [](RawObject) -> Result<void> { return {}; });
  if (page) feed(Audited{.version = page->version});
  co_return std::chrono::milliseconds{0};
}

Result<std::chrono::milliseconds> Watcher::failed(const Error& error) {
  if (error.code == Errc::kCancelled) return std::unexpected(error);
  broke(error);
  feed(Refused{.code = error.code});
  return std::max(delay_, error.retry_after.value_or(std::chrono::milliseconds{0}));
}

bool Watcher::on_frame(std::string_view frame, Encoding encoding) {
  const auto parsed = parse_frame(frame, encoding);
  if (!parsed) return undecodable(parsed.error());
  switch (parsed->kind) {
    case FrameKind::kAdded:
    case FrameKind::kModified:
    case FrameKind::kDeleted:
      return on_object(*parsed);
    case FrameKind::kBookmark:
      return on_bookmark(*parsed);
    case FrameKind::kError:
      return on_error_event(*parsed);
    case FrameKind::kUnknown:
      break;
  }
  return undecodable({.code = Errc::kCorrupt, .context = "event of an unknown type"});
}

bool Watcher::on_object(const WatchFrame& frame) {
  const auto version = decode({.bytes = frame.object, .encoding = frame.encoding});
  // A new list heals an event that was garbled on its way, or goes on without the object.
  if (!version) return is_listing() || undecodable(version.error());
  ++counts_.events;
  const auto kind = frame.kind == FrameKind::kAdded      ? EventKind::kAdded
                    : frame.kind == FrameKind::kModified ? EventKind::kModified
                                                         : EventKind::kDeleted;
  return feed(ObjectEvent{.kind = kind, .version = *version});
}

bool Watcher::on_bookmark(const WatchFrame& frame) {
  const auto object = decode_any<Partial>(frame);
  if (!object) return undecodable(object.error());
  const auto mark = object->metadata.annotations.find(kInitialEventsEnd);
  return feed(
      Bookmark{.version = object->metadata.version, .initial_events_end = mark && *mark == "true"});
}

bool Watcher::on_error_event(const WatchFrame& frame) {
  const auto status = decode_any<Status>(frame);
  if (!status) return undecodable(status.error());
  const Errc code = errc_from_status(status->code, status->reason, is_version_too_large(*status));
  report({.code = code, .context = fmt::format("{}: {}", described(), status->message)});
  return feed(ErrorEvent{.code = code});
}

bool Watcher::undecodable(const Error& error) {
  ++counts_.undecodable;
  report({.code = error.code, .context = fmt::format("{}: {}", described(), error.context)});
  return feed(Undecodable{});
}

bool Watcher::feed(const WatchInput& input) {
  const bool knew_versions = !state_.high_water.empty();
  WatchStep result = step(std::move(state_), input, clock_.monotonic());
  state_ = std::move(result.next);
  delay_ = result.delay;
  if (knew_versions && state_.high_water.empty()) ++counts_.rewinds;
  switch (result.action) {
    case WatchAction::kContinue:
      return true;
    case WatchAction::kStage:
      sink_.stage();
      return true;
    case WatchAction::kApply:
      sink_.apply(std::get<ObjectEvent>(input).kind);
      return true;
    case WatchAction::kAdvance:
      sink_.advance(std::get<Watching>(state_.phase).version);
      return true;
    case WatchAction::kPublish:
      sink_.publish(std::get<Watching>(state_.phase).version);
      return true;
    case WatchAction::kReopen:
      return false;
  }
  return false;
}

// The server may not be the one we knew when it comes back.
void Watcher::broke(const Error& error) {
  broke_ = true;
  report(error);
}

void Watcher::report(const Error& error) {
  if (options_.on_problem) options_.on_problem(error);
}

}  // namespace amdahl::kube

#include "tests/simulation/sim_stream.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <vector>

#include "base/fields.hpp"

namespace amdahl::simulation {
namespace {

constexpr std::uint64_t kLatencyMaxUs = 30'000;

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const auto end = text.find('\n');
    lines.push_back(text.substr(0, end + 1));
    text.remove_prefix(end + 1);
  }
  return lines;
}

}  // namespace

std::string coalesced(const std::string& lines) {
  const std::vector<std::string_view> all = lines_of(lines);
  std::vector<bool> dropped(all.size());
  std::map<std::string, std::size_t> last_update;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Json event = Json::parse(all[i], nullptr, false);
    const std::string uid = event.value("/object/metadata/uid"_json_pointer, std::string());
    const auto before = last_update.find(uid);
    if (event.value("type", "") != "MODIFIED") {
      last_update.erase(uid);
      continue;
    }
    if (before != last_update.end()) dropped[before->second] = true;
    last_update[uid] = i;
  }
  std::string kept;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (!dropped[i]) kept += all[i];
  return kept;
}

std::string duplicated(const std::string& lines) {
  std::string twice;
  for (const std::string_view line : lines_of(lines)) {
    twice += line;
    twice += line;
  }
  return twice;
}

bool is_late(std::string_view kind, const Fault& reorder) {
  const int letters = std::accumulate(kind.begin(), kind.end(), 0);
  return (letters + reorder.at) % 2 == 0;
}

Monotonic StreamState::due() {
  Monotonic when = agenda.now() + std::chrono::microseconds{100 + rng.below(kLatencyMaxUs)};
  for (const FaultKind kind : {FaultKind::kLag, FaultKind::kReorder, FaultKind::kCoalesce})
    if (const Fault* fault = open(kind))
      if (kind != FaultKind::kReorder || is_late(reader.kind, *fault))
        when += std::chrono::milliseconds{fault->arg};
  last_due = std::max({when, not_before, last_due});
  return last_due;
}

void StreamState::take(std::string lines) {
  if (broken || open(FaultKind::kDeafStreams)) return;
  if (open(FaultKind::kDuplicate)) lines = duplicated(lines);
  under_way.push_back(std::move(lines));
  agenda.at(due(), [self = shared_from_this()] { self->deliver(); });
}

void StreamState::deliver() {
  if (broken || under_way.empty()) return;
  if (under_way.size() > 1 && open(FaultKind::kCoalesce)) collapse();
  ready += under_way.front();
  under_way.pop_front();
  changed.notify_all();
}

// The packets of what was joined find nothing left when they come.
void StreamState::collapse() {
  std::string all;
  for (const std::string& batch : under_way) all += batch;
  under_way.clear();
  under_way.push_back(coalesced(all));
}

void StreamState::end() {
  agenda.at(due(), [self = shared_from_this()] {
    self->ended = true;
    self->changed.notify_all();
  });
}

void StreamState::break_now() {
  broken = true;
  under_way.clear();
  changed.notify_all();
}

Task<Result<std::size_t>> SimStream::read(std::span<char> into, Monotonic deadline) {
  for (;;) {
    // A process that is frozen runs no code, so what wakes it must pass by its own clock.
    if (clock_.frozen() && !co_await clock_.pass())
      co_return fail(Errc::kCancelled, "watch cancelled");
    if (state_->broken) co_return fail(Errc::kIo, "watch: connection reset");
    if (!state_->ready.empty()) break;
    if (state_->ended && state_->under_way.empty()) co_return 0;
    if (clock_.monotonic() >= deadline) co_return fail(Errc::kTimeout, "watch: no bytes came");
    const auto woken = co_await state_->changed.wait(clock_, deadline);
    if (!woken && woken.error().code == Errc::kCancelled)
      co_return fail(Errc::kCancelled, "watch cancelled");
  }
  const std::size_t size = std::min(into.size(), state_->ready.size());
  std::ranges::copy_n(state_->ready.begin(), static_cast<std::ptrdiff_t>(size), into.begin());
  state_->ready.erase(0, size);
  co_return size;
}

}  // namespace amdahl::simulation

#include "operator/training/event_notes.hpp"

#include <algorithm>

#include "base/wire_decode.hpp"
#include "operator/controller/readable_parts.hpp"

namespace amdahl::training {

EventNotesPtr EventNotes::of(const std::string& key) const {
  const auto found = notes_.find(key);
  return found == notes_.end() ? nullptr : found->second;
}

Result<std::string_view> EventNotes::decode(kube::RawObject object) {
  decoded_ = {};
  if (object.encoding == kube::Encoding::kJson) {
    TRY(reader_.read_padded(object.bytes,
                            [&](JsonValue& root) { return read_json(root, decoded_); }));
  } else {
    TRY(read_wire(object.bytes, decoded_));
  }
  if (decoded_.metadata.version.empty())
    return fail(Errc::kCorrupt, "Event without a resourceVersion");
  return std::string_view(decoded_.metadata.version);
}

Result<std::string_view> EventNotes::decode_parts(kube::RawObject object) {
  kube::Event parts;
  TRY(controller::read_parts(reader_, object, parts));
  decoded_ = {};
  decoded_.metadata.version = parts.metadata.version;
  if (decoded_.metadata.version.empty())
    return fail(Errc::kCorrupt, "Event without a resourceVersion");
  return std::string_view(decoded_.metadata.version);
}

// Events expire after an hour; what they said of an object stays true of it.
void EventNotes::apply(kube::EventKind kind) {
  if (kind != kube::EventKind::kDeleted) note();
}

void EventNotes::note() {
  const auto key = key_of_(decoded_);
  if (!key) return;
  EventNote fresh{.reason = decoded_.reason,
                  .message = decoded_.note.substr(0, kNoteBytesMax),
                  .at = decoded_.last_seen ? decoded_.last_seen : decoded_.time};
  if (decoded_.series && decoded_.series->last_observed) fresh.at = decoded_.series->last_observed;
  auto notes = std::make_shared<std::vector<EventNote>>();
  if (const EventNotesPtr before = of(*key)) *notes = *before;
  std::erase_if(*notes, [&](const EventNote& one) { return one.reason == fresh.reason; });
  if (notes->size() == kNotesOfObjectMax) notes->erase(notes->begin());
  notes->push_back(std::move(fresh));
  const bool known = notes_.contains(*key);
  notes_[*key] = std::move(notes);
  if (!known) order_.push_back(*key);
  if (order_.size() > kNotedObjectsMax) {
    notes_.erase(order_.front());
    order_.pop_front();
  }
  if (news_) news_(decoded_);
}

}  // namespace amdahl::training

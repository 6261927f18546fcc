// What Warning events said about some objects: of each object the last word for each reason.
//
// A watch of events feeds it; a cluster has many more of them than this keeps. Thread: one.
// Lifetime: outlives its watcher. Failure: none; what is over a bound makes room by forgetting the
// object that was heard of first, which costs evidence and nothing else. An event that cannot be
// read as a whole says nothing.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>

#include "base/json_decode.hpp"
#include "operator/kube/types_coordination.hpp"
#include "operator/kube/watcher.hpp"
#include "operator/training/event_note.hpp"

namespace amdahl::training {

inline constexpr std::size_t kNotedObjectsMax = 10'000;
inline constexpr std::size_t kNotesOfObjectMax = 4;
inline constexpr std::size_t kNoteBytesMax = 512;  // of a message

class EventNotes final : public kube::ObjectSink {
 public:
  // The key under which an event is kept; nullopt: it is not kept.
  using KeyOf = std::function<std::optional<std::string>(const kube::Event&)>;
  using News = std::function<void(const kube::Event&)>;
  explicit EventNotes(KeyOf key_of) : key_of_(std::move(key_of)) {}
  void on_news(News news) { news_ = std::move(news); }

  EventNotesPtr of(const std::string& key) const;
  std::size_t size() const { return notes_.size(); }

  // ObjectSink
  Result<std::string_view> decode(kube::RawObject object) override;
  Result<std::string_view> decode_parts(kube::RawObject object) override;
  void begin_stage() override {}
  void stage() override { note(); }  // what a list leaves out has expired, and is still true
  void publish(std::string_view /*version*/) override {}
  void apply(kube::EventKind kind) override;
  void advance(std::string_view /*version*/) override {}

 private:
  void note();

  KeyOf key_of_;
  News news_;
  JsonReader reader_;
  kube::Event decoded_;
  std::unordered_map<std::string, EventNotesPtr> notes_;
  std::deque<std::string> order_;  // of notes_, the oldest first
};

}  // namespace amdahl::training

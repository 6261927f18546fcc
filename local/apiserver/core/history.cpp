#include "local/apiserver/core/history.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace amdahl::local {

void History::add(ResourceId resource, Event event) {
  while (lanes_.size() <= resource) lanes_.push_back({.floor = floor_});
  const std::size_t bytes = event.now->bytes();
  order_.push_back({.version = event.version, .resource = resource, .bytes = bytes});
  bytes_ += bytes;
  lanes_[resource].events.push_back(std::move(event));
  while (order_.size() > limits_.events_max || (bytes_ > limits_.bytes_max && order_.size() > 1))
    drop_oldest();
}

void History::reset(std::uint64_t floor) {
  lanes_.clear();
  order_.clear();
  bytes_ = 0;
  floor_ = floor;
}

void History::drop_through(std::uint64_t version) {
  while (!order_.empty() && order_.front().version <= version) drop_oldest();
  for (Lane& lane : lanes_) lane.floor = std::max(lane.floor, version);
  floor_ = std::max(floor_, version);
}

std::uint64_t History::floor(ResourceId resource) const {
  return resource < lanes_.size() ? lanes_[resource].floor : floor_;
}

const std::deque<Event>& History::events(ResourceId resource) const {
  static const std::deque<Event> none;
  return resource < lanes_.size() ? lanes_[resource].events : none;
}

std::size_t History::first_after(ResourceId resource, std::uint64_t version) const {
  const std::deque<Event>& all = events(resource);
  const auto found = std::ranges::upper_bound(all, version, {}, &Event::version);
  return static_cast<std::size_t>(found - all.begin());
}

void History::drop_oldest() {
  const Mark mark = order_.front();
  order_.pop_front();
  bytes_ -= mark.bytes;
  Lane& lane = lanes_[mark.resource];
  AMDAHL_CHECK(!lane.events.empty() && lane.events.front().version == mark.version);
  lane.events.pop_front();
  lane.floor = mark.version;
}

}  // namespace amdahl::local

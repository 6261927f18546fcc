// Two containers that hold positions of a slab instead of elements, so that one small struct per
// key is all the work queue pays: a doubly linked list, and a heap from which any member can leave.
//
// Thread: one. Lifetime: the links live in the slab's elements, which `link` and `place` reach.
// Failure: none; misuse (linking twice) is a bug and is checked where it is cheap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/check.hpp"

namespace amdahl::controller {

inline constexpr std::uint32_t kNone = 0xffff'ffff;

struct Link {
  std::uint32_t previous = kNone;
  std::uint32_t next = kNone;
};

// First in, first out; removal from the middle in O(1). LinkOf: Link& (std::uint32_t position).
struct IndexList {
  std::uint32_t head = kNone;
  std::uint32_t tail = kNone;
  bool empty() const { return head == kNone; }

  template <class LinkOf>
  void push_back(std::uint32_t at, LinkOf link) {
    link(at) = Link{.previous = tail, .next = kNone};
    (tail == kNone ? head : link(tail).next) = at;
    tail = at;
  }

  template <class LinkOf>
  void erase(std::uint32_t at, LinkOf link) {
    const Link gone = std::exchange(link(at), Link{});
    (gone.previous == kNone ? head : link(gone.previous).next) = gone.next;
    (gone.next == kNone ? tail : link(gone.next).previous) = gone.previous;
  }
};

// A binary min-heap of positions. Before: bool (a, b), true when a comes first. Place:
// std::uint32_t& (position), where the heap keeps each member's own index.
class IndexHeap {
 public:
  bool empty() const { return heap_.empty(); }
  std::size_t size() const { return heap_.size(); }
  std::uint32_t front() const { return heap_.front(); }

  template <class Before, class Place>
  void push(std::uint32_t member, Before before, Place place) {
    place(member) = static_cast<std::uint32_t>(heap_.size());
    heap_.push_back(member);
    sift_up(place(member), before, place);
  }

  template <class Before, class Place>
  void erase(std::uint32_t member, Before before, Place place) {
    const std::uint32_t hole = std::exchange(place(member), kNone);
    AMDAHL_CHECK(hole < heap_.size() && heap_[hole] == member);
    const std::uint32_t last = heap_.back();
    heap_.pop_back();
    if (hole == heap_.size()) return;
    put(hole, last, place);
    sift_up(hole, before, place);
    sift_down(place(last), before, place);
  }

 private:
  template <class Place>
  void put(std::uint32_t at, std::uint32_t member, Place place) {
    heap_[at] = member;
    place(member) = at;
  }

  template <class Before, class Place>
  void sift_up(std::uint32_t at, Before before, Place place) {
    const std::uint32_t member = heap_[at];
    for (; at > 0 && before(member, heap_[(at - 1) / 2]); at = (at - 1) / 2)
      put(at, heap_[(at - 1) / 2], place);
    put(at, member, place);
  }

  template <class Before, class Place>
  void sift_down(std::uint32_t at, Before before, Place place) {
    const std::uint32_t member = heap_[at];
    for (std::size_t child = 2U * at + 1; child < heap_.size(); child = 2U * at + 1) {
      if (child + 1 < heap_.size() && before(heap_[child + 1], heap_[child])) ++child;
      if (!before(heap_[child], member)) break;
      put(at, heap_[child], place);
      at = static_cast<std::uint32_t>(child);
    }
    put(at, member, place);
  }

  std::vector<std::uint32_t> heap_;
};

}  // namespace amdahl::controller

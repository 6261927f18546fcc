// A store whose n-th call goes wrong: it fails, its answer is lost, the process ends before or
// after it, or somebody else does something first. Every call of a run gets its turn.
//
// Thread: any; calls go through one after another. A process that ended gets kCancelled from then
// on and can do nothing more to the store. For tests only.
#pragma once

#include <functional>
#include <mutex>
#include <string>

#include "checkpoint/store/store.hpp"

namespace amdahl::checkpoint::test {

enum class Fault : std::uint8_t { kNone, kFails, kLosesReply, kEndsBefore, kEndsAfter, kMeddled };

class FaultyStore final : public Store {
 public:
  // `at` counts from 1. `meddle` runs before the n-th call, for kMeddled.
  FaultyStore(Store& store, Fault fault, int at, std::function<void()> meddle = {})
      : store_(store), fault_(fault), at_(at), meddle_(std::move(meddle)) {}

  int calls() const { return calls_; }
  bool hit() const { return calls_ >= at_; }

  Result<void> create(std::string_view name, std::span<const Bytes> pieces,
                      const StoreCall& call) override {
    return through<void>(name, [&] { return store_.create(name, pieces, call); });
  }
  Result<std::int64_t> size(std::string_view name, const StoreCall& call) override {
    return through<std::int64_t>(name, [&] { return store_.size(name, call); });
  }
  Result<void> read(std::string_view name, std::int64_t begin, std::span<std::byte> into,
                    const StoreCall& call) override {
    return through<void>(name, [&] { return store_.read(name, begin, into, call); });
  }
  Result<ListPage> list(std::string_view prefix, std::string_view next,
                        const StoreCall& call) override {
    return through<ListPage>(prefix, [&] { return store_.list(prefix, next, call); });
  }
  Result<void> remove(std::string_view name, const StoreCall& call) override {
    return through<void>(name, [&] { return store_.remove(name, call); });
  }
  Result<std::int64_t> remove_leftovers(WallTime before, const StoreCall& call) override {
    return through<std::int64_t>("leftovers",
                                 [&] { return store_.remove_leftovers(before, call); });
  }
  std::string describe() const override { return store_.describe(); }

 private:
  template <class T, class Call>
  Result<T> through(std::string_view name, const Call& call) {
    const std::scoped_lock lock(mutex_);  // receipts are read side by side
    if (ended_) return fail(Errc::kCancelled, "{}: the process has ended", name);
    if (++calls_ != at_ || fault_ == Fault::kNone) return call();
    switch (fault_) {
      case Fault::kFails:
        return fail(Errc::kUnavailable, "{}: made to fail", name);
      case Fault::kLosesReply:
        (void)call();
        return fail(Errc::kIo, "{}: the reply was lost", name);
      case Fault::kEndsAfter:
        (void)call();
        [[fallthrough]];
      case Fault::kEndsBefore:
        ended_ = true;
        return fail(Errc::kCancelled, "{}: the process ends", name);
      default:
        meddle_();
        return call();
    }
  }

  Store& store_;
  Fault fault_;
  int at_;
  std::function<void()> meddle_;
  std::mutex mutex_;
  int calls_ = 0;
  bool ended_ = false;
};

}  // namespace amdahl::checkpoint::test

// A Store that says when the first list is in it.
//
// Thread: one. Lifetime: the store outlives it; it outlives its watcher.
#pragma once

#include <functional>
#include <string_view>
#include <utility>

#include "operator/controller/store.hpp"
#include "operator/kube/watcher.hpp"

namespace amdahl::bench {

template <class T>
class SyncedSink final : public kube::ObjectSink {
 public:
  SyncedSink(controller::Store<T>& store, std::function<void()> on_synced)
      : store_(store), on_synced_(std::move(on_synced)) {}

  Result<std::string_view> decode(kube::RawObject object) override { return store_.decode(object); }
  Result<std::string_view> decode_parts(kube::RawObject object) override {
    return store_.decode_parts(object);
  }
  void begin_stage() override { store_.begin_stage(); }
  void stage() override { store_.stage(); }
  void publish(std::string_view version) override {
    const bool first = !store_.synced();
    store_.publish(version);
    if (first) on_synced_();
  }
  void apply(kube::EventKind kind) override { store_.apply(kind); }
  void advance(std::string_view version) override { store_.advance(version); }

 private:
  controller::Store<T>& store_;
  std::function<void()> on_synced_;
};

}  // namespace amdahl::bench

// A cache that a test fills by hand: just enough to be a controller's source.
//
// Thread: one. Lifetime: outlives the controllers that watch it. Failure: none.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "operator/controller/source.hpp"

namespace amdahl::testkit {

inline kube::ObjectKey key(std::string name, std::string ns = "ns") {
  return {.ns = std::move(ns), .name = std::move(name)};
}

class FakeSource final : public controller::Source {
 public:
  explicit FakeSource(std::string kind) : kind_(std::move(kind)) {}

  std::string_view kind() const override { return kind_; }
  bool synced() const override { return synced_; }
  std::string version() const override { return std::to_string(version_); }
  bool contains(const kube::ObjectKey& key) const override { return keys_.contains(key); }
  void subscribe(controller::ChangeHandler handler) override {
    handlers_.push_back(std::move(handler));
  }

  void publish() { synced_ = true; }
  void add(const kube::ObjectKey& key, bool is_initial = false,
           std::optional<controller::Owner> owner = {}) {
    keys_.insert(key);
    tell({.type = controller::ChangeType::kAdded,
          .key = key,
          .uid = "u-" + key.name,
          .is_initial = is_initial,
          .controller = std::move(owner)});
  }
  void update(const kube::ObjectKey& key, bool relevant = true) {
    keys_.insert(key);
    tell({.key = key, .uid = "u-" + key.name, .relevant = relevant});
  }
  void remove(const kube::ObjectKey& key) {
    keys_.erase(key);
    tell({.type = controller::ChangeType::kDeleted, .key = key, .uid = "u-" + key.name});
  }

 private:
  void tell(const controller::Change& change) {
    ++version_;
    for (const auto& handler : handlers_) handler(change);
  }

  std::string kind_;
  std::vector<controller::ChangeHandler> handlers_;
  std::set<kube::ObjectKey> keys_;
  std::uint64_t version_ = 1;
  bool synced_ = false;
};

}  // namespace amdahl::testkit

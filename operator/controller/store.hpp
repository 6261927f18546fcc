// Objects of one kind as last seen from the API server, projected to the fields of T (L15).
//
// T has a field table, a member `metadata` and `static const Resource& resource()`. Thread: one;
// read and written only there. Lifetime: outlives its watcher and every handler; the pointers it
// gives out are immutable snapshots that stay valid as long as they are held. Consistency: never
// goes back in time; an object is identified by its UID, so a recreated name is a new object
// (L11); a relist is one atomic replace (L10). Nothing but the watch writes here (L12).
// Failure: none of its own; a broken watch makes it stale, and Watcher::last_heard() says how much.
#pragma once

#include <boost/unordered/unordered_flat_set.hpp>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "base/json_decode.hpp"
#include "base/wire_decode.hpp"
#include "operator/controller/readable_parts.hpp"
#include "operator/controller/source.hpp"
#include "operator/controller/store_index.hpp"
#include "operator/kube/watcher.hpp"

namespace amdahl::controller {

template <class T>
class Store final : public kube::ObjectSink, public Source {
 public:
  using Ptr = std::shared_ptr<const T>;
  using IndexBy = std::function<std::vector<std::string>(const T&)>;

  Ptr find(const ObjectKey& key) const;
  std::size_t size() const { return objects_.size(); }
  template <class Visit>
  void for_each(Visit visit) const {
    for (const Ptr& object : objects_) visit(object);
  }
  // Declared before the first sync: store.add_index("job", [](const Pod& p) { ... }).
  void add_index(std::string name, IndexBy values_of);
  const std::vector<Ptr>& by_index(std::string_view name, std::string_view value) const;

  // How to ask for T: protobuf when its table has field numbers, which is cheaper on both sides.
  static constexpr kube::Shape shape() {
    return {.encoding = has_wire<T> ? kube::Encoding::kProtobuf : kube::Encoding::kJson};
  }

  // Source
  std::string_view kind() const override { return T::resource().kind; }
  bool synced() const override { return synced_; }
  std::string version() const override { return version_; }
  bool contains(const ObjectKey& key) const override { return find(key) != nullptr; }
  void subscribe(ChangeHandler handler) override { handlers_.push_back(std::move(handler)); }

  // ObjectSink
  Result<std::string_view> decode(kube::RawObject object) override;
  Result<std::string_view> decode_parts(kube::RawObject object) override;
  void begin_stage() override { staged_.clear(); }
  void stage() override;
  void publish(std::string_view version) override;
  void apply(kube::EventKind kind) override;
  void advance(std::string_view version) override { version_ = version; }

 private:
  using View = std::pair<std::string_view, std::string_view>;
  static View view(const T& object) { return {object.metadata.ns, object.metadata.name}; }
  static View view(const Ptr& object) { return view(*object); }
  static View view(const ObjectKey& key) { return {key.ns, key.name}; }
  static View view(const View& key) { return key; }
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(const auto& item) const {
      const auto [ns, name] = Store::view(item);
      const std::size_t seed = std::hash<std::string_view>{}(ns);
      return seed * 0x9e3779b97f4a7c15U + std::hash<std::string_view>{}(name);
    }
  };
  struct Same {
    using is_transparent = void;
    bool operator()(const auto& a, const auto& b) const { return Store::view(a) == Store::view(b); }
  };
  using Table = boost::unordered_flat_set<Ptr, Hash, Same>;

  Result<std::string_view> hold(std::shared_ptr<T> fresh);
  static bool identical(const T& a, const T& b) {
    return a.metadata.uid == b.metadata.uid && a.metadata.version == b.metadata.version;
  }
  // Puts `now` in the place of `before` (either may be null) and tells the handlers.
  void replace(const Ptr& before, const Ptr& now, bool is_initial);
  void tell(ChangeType type, const T& object, bool is_initial, bool relevant,
            bool final_state_unknown = false);

  JsonReader reader_;
  Table objects_;
  Table staged_;
  Ptr decoded_;
  std::string version_;
  bool synced_ = false;
  std::vector<ChangeHandler> handlers_;
  std::map<std::string, StoreIndex<T>, std::less<>> indexes_;
};

template <class T>
typename Store<T>::Ptr Store<T>::find(const ObjectKey& key) const {
  const auto found = objects_.find(view(key));
  return found == objects_.end() ? nullptr : *found;
}

template <class T>
void Store<T>::add_index(std::string name, IndexBy values_of) {
  AMDAHL_CHECK(objects_.empty());
  indexes_.emplace(std::move(name), StoreIndex<T>(std::move(values_of)));
}

template <class T>
const std::vector<typename Store<T>::Ptr>& Store<T>::by_index(std::string_view name,
                                                              std::string_view value) const {
  const auto index = indexes_.find(name);
  AMDAHL_CHECK(index != indexes_.end());
  return index->second.find(value);
}

template <class T>
Result<std::string_view> Store<T>::decode(kube::RawObject object) {
  auto fresh = std::make_shared<T>();
  if (object.encoding == kube::Encoding::kJson) {
    TRY(reader_.read_padded(object.bytes,
                            [&](JsonValue& root) { return read_json(root, *fresh); }));
  } else {
    TRY(read_wire(object.bytes, *fresh));
  }
  return hold(std::move(fresh));
}

// Parts that cannot be read have their defaults.
template <class T>
Result<std::string_view> Store<T>::decode_parts(kube::RawObject object) {
  auto fresh = std::make_shared<T>();
  TRY(read_parts(reader_, object, *fresh));
  return hold(std::move(fresh));
}

template <class T>
Result<std::string_view> Store<T>::hold(std::shared_ptr<T> fresh) {
  if (fresh->metadata.name.empty() || fresh->metadata.version.empty())
    return fail(Errc::kCorrupt, "{} without a name or a resourceVersion", kind());
  decoded_ = std::move(fresh);
  return std::string_view(decoded_->metadata.version);
}

template <class T>
void Store<T>::stage() {
  // A relist mostly brings what is known: sharing it keeps the peak near the steady size.
  const auto known = objects_.find(view(decoded_));
  const bool same = known != objects_.end() && identical(**known, *decoded_);
  const auto [place, added] = staged_.insert(same ? *known : decoded_);
  if (!added) {
    staged_.erase(place);
    staged_.insert(decoded_);
  }
  decoded_.reset();
}

template <class T>
void Store<T>::publish(std::string_view version) {
  // One swap, and only then the handlers: nobody sees a half-filled world (L10, L14).
  Table before = std::exchange(objects_, std::exchange(staged_, {}));
  version_ = version;
  for (auto& [name, index] : indexes_) index.rebuild(objects_);
  for (const Ptr& old : before) {
    const auto now = objects_.find(view(old));
    const bool gone = now == objects_.end() || (*now)->metadata.uid != old->metadata.uid;
    if (gone) tell(ChangeType::kDeleted, *old, true, true, true);
  }
  for (const Ptr& now : objects_) {
    const auto old = before.find(view(now));
    if (old == before.end() || (*old)->metadata.uid != now->metadata.uid) {
      tell(ChangeType::kAdded, *now, true, true);
    } else if (!identical(**old, *now)) {
      tell(ChangeType::kUpdated, *now, true, changed_for_reconcile(**old, *now));
    }
  }
  synced_ = true;
}

template <class T>
void Store<T>::apply(kube::EventKind kind) {
  const Ptr now = std::exchange(decoded_, nullptr);
  version_ = now->metadata.version;
  const auto place = objects_.find(view(now));
  const Ptr before = place == objects_.end() ? nullptr : *place;
  if (kind == kube::EventKind::kDeleted) {
    // The delete of an old object must not take a new one of the same name with it (L11).
    if (before && before->metadata.uid == now->metadata.uid) replace(before, nullptr, false);
    return;
  }
  if (before && identical(*before, *now)) return;
  replace(before, now, false);
}

template <class T>
void Store<T>::replace(const Ptr& before, const Ptr& now, bool is_initial) {
  if (before) objects_.erase(view(before));
  if (now) objects_.insert(now);
  for (auto& [name, index] : indexes_) index.replace(before, now);
  const bool same_object = before && now && before->metadata.uid == now->metadata.uid;
  if (before && !same_object) tell(ChangeType::kDeleted, *before, is_initial, true, now != nullptr);
  if (now && same_object)
    tell(ChangeType::kUpdated, *now, is_initial, changed_for_reconcile(*before, *now));
  if (now && !same_object) tell(ChangeType::kAdded, *now, is_initial, true);
}

template <class T>
void Store<T>::tell(ChangeType type, const T& object, bool is_initial, bool relevant,
                    bool final_state_unknown) {
  if (handlers_.empty()) return;
  Change change{.type = type,
                .key = object.metadata.key(),
                .uid = std::string(object.metadata.uid),
                .is_initial = is_initial,
                .relevant = relevant,
                .controller = controller::controller_of(object),
                .final_state_unknown = final_state_unknown};
  for (const ChangeHandler& handler : handlers_) handler(change);
}

}  // namespace amdahl::controller

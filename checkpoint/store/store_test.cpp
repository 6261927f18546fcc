// What every store must do. A new store is one more row of `stores()`. AMDAHL_TEST_STORES has
// addresses of more, with a space between: tests/cloud_stores names servers of other people.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <sstream>
#include <thread>

#include "checkpoint/store/file_store.hpp"
#include "checkpoint/store/memory_store.hpp"
#include "checkpoint/store/open_store.hpp"
#include "checkpoint/store/test_cloud.hpp"
#include "checkpoint/store/test_folder.hpp"

namespace amdahl::checkpoint {
namespace {

RealClock real_clock;

// A store and what it lies in: a folder, a fake server.
template <class Inside>
class StoreWithin final : public Store {
 public:
  explicit StoreWithin(std::function<std::unique_ptr<Store>(Inside&)> open)
      : store_(open(inside_)) {}
  Result<void> create(std::string_view name, std::span<const Bytes> pieces,
                      const StoreCall& call) override {
    return store_->create(name, pieces, call);
  }
  Result<std::int64_t> size(std::string_view name, const StoreCall& call) override {
    return store_->size(name, call);
  }
  Result<void> read(std::string_view name, std::int64_t begin, std::span<std::byte> into,
                    const StoreCall& call) override {
    return store_->read(name, begin, into, call);
  }
  Result<void> read_through(std::string_view name, StoreRange range, Scratch& scratch,
                            const TakePiece& take, const StoreCall& call) override {
    return store_->read_through(name, range, scratch, take, call);
  }
  Result<ListPage> list(std::string_view prefix, std::string_view next,
                        const StoreCall& call) override {
    return store_->list(prefix, next, call);
  }
  Result<void> remove(std::string_view name, const StoreCall& call) override {
    return store_->remove(name, call);
  }
  Result<std::int64_t> remove_leftovers(WallTime before, const StoreCall& call) override {
    return store_->remove_leftovers(before, call);
  }
  std::string describe() const override { return store_->describe(); }

 private:
  Inside inside_;
  std::unique_ptr<Store> store_;
};

std::unique_ptr<Store> in_folder(TestFolder& folder) {
  return std::make_unique<FileStore>(FileStoreOptions{.root = folder.path()}, real_clock, Rng(1));
}

template <class AnyCloud>
std::unique_ptr<Store> in_cloud() {
  return std::make_unique<StoreWithin<AnyCloud>>([](AnyCloud& cloud) { return cloud.open({}); });
}

struct NamedStore {
  std::string name;
  std::function<std::unique_ptr<Store>()> open;
};

std::string variable(std::string_view name) {
  const char* const value = std::getenv(std::string(name).c_str());
  return value == nullptr ? "" : value;
}

std::vector<std::string> foreign_stores() {
  std::istringstream text(variable("AMDAHL_TEST_STORES"));
  return {std::istream_iterator<std::string>(text), {}};
}

// Below the address, at a place that was never used.
std::unique_ptr<Store> open_foreign(const std::string& address) {
  static int opened = 0;
  static const auto begin = real_clock.wall().time_since_epoch().count();
  const std::string place = fmt::format("{}/{}-{}", address, begin, ++opened);
  auto store = open_store(
      place,
      {.clock = real_clock, .rng = Rng(static_cast<std::uint64_t>(begin)), .variable = variable});
  INFO((store ? "" : store.error().context));
  REQUIRE(store);
  return *std::move(store);
}

std::vector<NamedStore> stores() {
  std::vector<NamedStore> all = {
      {"memory", [] { return std::make_unique<MemoryStore>(); }},
      {"file", [] { return std::make_unique<StoreWithin<TestFolder>>(in_folder); }},
      {"gcs", [] { return in_cloud<GcsCloud>(); }},
      {"s3", [] { return in_cloud<S3Cloud>(); }}};
  for (const std::string& address : foreign_stores())
    all.push_back({address, [address] { return open_foreign(address); }});
  return all;
}

Result<void> put(Store& store, std::string_view name, std::string_view text) {
  const std::vector<Bytes> pieces{bytes_of(text.substr(0, text.size() / 2)),
                                  bytes_of(text.substr(text.size() / 2))};
  return store.create(name, pieces, {});
}

TEST_CASE("store: an object is created once, whole, and read in ranges", "[checkpoint_store]") {
  for (const NamedStore& named : stores()) {
    INFO(named.name);
    const auto store = named.open();
    REQUIRE(put(*store, "data/a", "0123456789"));
    CHECK(put(*store, "data/a", "other").error().code == Errc::kAlreadyExists);
    CHECK(store->size("data/a", {}).value() == 10);
    CHECK(read_whole(*store, "data/a", 10, {}).value() == "0123456789");
    CHECK(read_whole(*store, "data/a", 9, {}).error().code == Errc::kTooLarge);
    std::string part(3, '\0');
    REQUIRE(store->read("data/a", 4, std::as_writable_bytes(std::span(part)), {}));
    CHECK(part == "456");
    CHECK(store->read("data/a", 8, std::as_writable_bytes(std::span(part)), {}).error().code ==
          Errc::kCorrupt);
    REQUIRE(put(*store, "data/empty", ""));
    CHECK(read_whole(*store, "data/empty", 0, {}).value().empty());
  }
}

TEST_CASE("store: pieces of a range are its bytes, in order", "[checkpoint_store]") {
  std::string text(3 * kPieceBytes + 1234, '\0');
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(i * 7 + i / 251);
  for (const NamedStore& named : stores()) {
    INFO(named.name);
    const auto store = named.open();
    REQUIRE(put(*store, "data/a", text));
    Scratch scratch;
    std::string found;
    const auto read = [&](StoreRange range) {
      found.clear();
      return store->read_through("data/a", range, scratch,
                                 [&](Bytes piece) { found += text_of(piece); }, {});
    };
    const auto size = static_cast<std::int64_t>(text.size());
    REQUIRE(read({.begin = 0, .bytes = size}));
    CHECK(found == text);
    REQUIRE(read({.begin = 5, .bytes = static_cast<std::int64_t>(kPieceBytes)}));
    CHECK(found == text.substr(5, kPieceBytes));
    REQUIRE(read({.begin = size, .bytes = 0}));
    CHECK(found.empty());
    CHECK(read({.begin = 5, .bytes = size}).error().code == Errc::kCorrupt);
    CHECK(store->read_through("data/b", {.bytes = 1}, scratch, [](Bytes) {}, {}).error().code ==
          Errc::kNotFound);
  }
}

TEST_CASE("store: what is absent is not found, and removing it is a success",
          "[checkpoint_store]") {
  for (const NamedStore& named : stores()) {
    INFO(named.name);
    const auto store = named.open();
    std::string part(1, '\0');
    CHECK(store->size("data/a", {}).error().code == Errc::kNotFound);
    CHECK(store->read("data/a", 0, std::as_writable_bytes(std::span(part)), {}).error().code ==
          Errc::kNotFound);
    CHECK(store->remove("data/a", {}));
    REQUIRE(put(*store, "data/a", "1"));
    CHECK(store->remove("data/a", {}));
    CHECK(store->size("data/a", {}).error().code == Errc::kNotFound);
    CHECK(store->list("", "", {}).value().objects.empty());
  }
}

TEST_CASE("store: a listing has every object below a prefix, on pages", "[checkpoint_store]") {
  for (const NamedStore& named : stores()) {
    INFO(named.name);
    const auto store = named.open();
    const std::size_t count = kListPageMax + 5;
    for (std::size_t i = 0; i < count; ++i) REQUIRE(put(*store, fmt::format("data/{:05}", i), "x"));
    REQUIRE(put(*store, "manifests/1", "xy"));
    const auto first = store->list("data/", "", {}).value();
    CHECK(first.objects.size() <= kListPageMax);
    CHECK_FALSE(first.next.empty());
    CHECK(list_all(*store, "data/", {}).value().size() == count);
    CHECK(list_all(*store, "manifests/", {}).value() ==
          std::vector<StoredObject>{{.name = "manifests/1", .bytes = 2}});
    CHECK(list_all(*store, "", {}).value().size() == count + 1);
  }
}

// Sizes at which real servers get more than one request: fakes have smaller limits.
TEST_CASE("store: of two creators of a large object one wins, whole", "[.][foreign]") {
  constexpr std::size_t kBytes = (std::size_t{70} << 20U) + 4321;
  REQUIRE_FALSE(foreign_stores().empty());
  for (const std::string& address : foreign_stores()) {
    INFO(address);
    const auto store = open_foreign(address);
    const std::string texts[] = {std::string(kBytes, 'a'), std::string(kBytes, 'b')};
    std::optional<Result<void>> outcomes[2];
    {
      std::vector<std::jthread> creators;
      for (int i = 0; i < 2; ++i)
        creators.emplace_back([&, i] { outcomes[i] = put(*store, "data/large", texts[i]); });
    }
    for (const auto& outcome : outcomes)
      if (!*outcome) CHECK(outcome->error().code == Errc::kAlreadyExists);
    REQUIRE(outcomes[0]->has_value() != outcomes[1]->has_value());
    const std::string& winner = texts[outcomes[0]->has_value() ? 0 : 1];
    CHECK(read_whole(*store, "data/large", kBytes, {}).value() == winner);
    CHECK(store->remove_leftovers(real_clock.wall() + std::chrono::hours(1), {}));
    CHECK(list_all(*store, "", {}).value().size() == 1);
  }
}

}  // namespace
}  // namespace amdahl::checkpoint

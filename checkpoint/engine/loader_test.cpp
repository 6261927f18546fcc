#include "checkpoint/engine/loader.hpp"

#include <catch2/catch.hpp>

#include "base/rng.hpp"
#include "checkpoint/engine/boxes.hpp"
#include "checkpoint/engine/planes_codec.hpp"
#include "checkpoint/engine/scrub.hpp"
#include "checkpoint/engine/test_state.hpp"
#include "checkpoint/store/memory_store.hpp"

namespace amdahl::checkpoint {
namespace {

struct Saved {
  MemoryStore store = {};
  Chain chain = {};
};

// Whole tensors of random shapes, cut along up to two dimensions and given to ranks.
void save_ranks(Saved& saved, const std::vector<test::TestState>& ranks, std::int64_t step) {
  RealClock clock;
  RealWaiter waiter;
  const auto world_size = static_cast<std::int32_t>(ranks.size());
  std::vector<std::unique_ptr<Engine>> engines;
  for (std::int32_t rank = 0; rank < world_size; ++rank)
    engines.push_back(*Engine::open(saved.store, clock, waiter,
                                    test::small_options(test::identity("a", rank, world_size))));
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const auto pointers = ranks[rank].pointers();
    REQUIRE(engines[rank]->save(test::request_of(ranks[rank], step, pointers)).has_value());
  }
  for (auto& engine : engines) {
    const auto done = engine->settle(std::chrono::minutes(1));
    INFO((done ? "" : done.error().context));
    REQUIRE(done.has_value());
  }
  saved.chain = *fetch_chain(saved.store, step, {});
}

// Element (row, column) of a whole tensor of U16, as it must be wherever it is met.
std::uint16_t value_at(std::int64_t row, std::int64_t column) {
  return static_cast<std::uint16_t>(row * 251 + column * 7 + 3);
}
std::string slice(const Shape& offset, const Shape& shape) {
  std::string bytes;
  for (std::int64_t row = 0; row < shape[0]; ++row)
    for (std::int64_t column = 0; column < shape[1]; ++column) {
      const std::uint16_t value = value_at(offset[0] + row, offset[1] + column);
      bytes += static_cast<char>(value & 0xffU);
      bytes += static_cast<char>(value >> 8U);
    }
  return bytes;
}

test::TestState shard(const Shape& whole, const Shape& offset, const Shape& shape) {
  test::TestState state;
  state.add(
      {.name = "w", .dtype = Dtype::kU16, .shape = shape, .global_shape = whole, .offset = offset},
      slice(offset, shape));
  return state;
}

TEST_CASE("Loader gives any slice of what any number of ranks had") {
  const Shape whole = {37, 53};
  struct Grid {
    std::int64_t rows;
    std::int64_t columns;
  };
  Rng rng(5);
  for (const Grid grid : {Grid{1, 1}, Grid{2, 1}, Grid{3, 1}, Grid{1, 4}, Grid{2, 3}}) {
    Saved saved;
    std::vector<test::TestState> ranks;
    for (std::int64_t r = 0; r < grid.rows; ++r)
      for (std::int64_t c = 0; c < grid.columns; ++c) {
        const Shape from = {whole[0] * r / grid.rows, whole[1] * c / grid.columns};
        const Shape to = {whole[0] * (r + 1) / grid.rows, whole[1] * (c + 1) / grid.columns};
        ranks.push_back(shard(whole, from, {to[0] - from[0], to[1] - from[1]}));
      }
    save_ranks(saved, ranks, 1);
    for (int round = 0; round < 30; ++round) {
      const auto below = [&](std::int64_t n) {
        return static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(n)));
      };
      const Shape offset = {below(whole[0]), below(whole[1])};
      const Shape shape = {1 + below(whole[0] - offset[0]), 1 + below(whole[1] - offset[1])};
      std::string bytes(static_cast<std::size_t>(shape[0] * shape[1] * 2), '\0');
      const TensorWanted wanted{.name = "w",
                                .dtype = Dtype::kU16,
                                .offset = offset,
                                .shape = shape,
                                .into = std::as_writable_bytes(std::span(bytes))};
      Loader loader(saved.store, saved.chain, 1 + static_cast<int>(rng.below(3)));
      const auto loaded = loader.load({&wanted, 1}, {});
      INFO((loaded ? "" : loaded.error().context));
      REQUIRE(loaded.has_value());
      CHECK(bytes == slice(offset, shape));
    }
  }
}

TEST_CASE("Loader refuses what is not there, with the tensor's name") {
  Saved saved;
  save_ranks(saved, {shard({4, 6}, {0, 0}, {4, 6})}, 1);
  std::string bytes(48, '\0');
  const auto into = std::as_writable_bytes(std::span(bytes));
  const std::vector<std::pair<TensorWanted, const char*>> rows = {
      {{.name = "v", .dtype = Dtype::kU16, .shape = {4, 6}, .into = into}, "no such tensor"},
      {{.name = "w", .dtype = Dtype::kF16, .shape = {4, 6}, .into = into}, "it is U16"},
      {{.name = "w", .dtype = Dtype::kU16, .shape = {24}, .into = into}, "2 dimensions"},
      {{.name = "w", .dtype = Dtype::kU16, .shape = {5, 6}, .into = into}, "dimension 0 has 4"},
      {{.name = "w", .dtype = Dtype::kU16, .offset = {1, 0}, .shape = {4, 6}, .into = into},
       "4 from 1 on"},
      {{.name = "w", .dtype = Dtype::kU16, .shape = {4, 5}, .into = into}, "it takes 40"},
  };
  for (const auto& [wanted, words] : rows) {
    Loader loader(saved.store, saved.chain, 1);
    const auto loaded = loader.load({&wanted, 1}, {});
    REQUIRE_FALSE(loaded.has_value());
    CHECK(loaded.error().code == Errc::kInvalid);
    CHECK(loaded.error().context.find(words) != std::string::npos);
  }
}

TEST_CASE("Loader and verification find every damaged byte, and name the chunk") {
  Saved saved;
  save_ranks(saved, {test::state_at(3)}, 3);
  REQUIRE(test::load_all(saved.store, saved.chain).has_value());
  for (const auto& [name, content] : saved.store.objects()) {
    const auto parsed = parse_name(name);
    if (!parsed || !holds_tensors(parsed->kind)) continue;
    for (std::size_t at = 0; at < content.size(); at += 97) {
      INFO(name << " byte " << at);
      std::string bad = content;
      bad[at] = static_cast<char>(bad[at] ^ 0x20);
      saved.store.replace(name, bad);
      const auto loaded = test::load_all(saved.store, saved.chain);
      REQUIRE_FALSE(loaded.has_value());
      const std::string chunk = "chunk " + std::to_string(at / 512) + " ";
      const auto scrubbed = verify_objects(saved.store, saved.chain[0], 1, {});
      REQUIRE(scrubbed->bad.size() == 1);
      CHECK(scrubbed->bad[0].find(name + ": " + chunk) != std::string::npos);
      if (at >= 8) CHECK(loaded.error().context.find(name + ": " + chunk) != std::string::npos);
    }
    saved.store.replace(name, content.substr(0, content.size() - 1));
    CHECK_FALSE(test::load_all(saved.store, saved.chain).has_value());
    saved.store.replace(name, content);
  }
}

TEST_CASE("Newest falls back from a damaged checkpoint, with the reason, not from a silent store") {
  Saved saved;
  save_ranks(saved, {test::state_at(3)}, 3);
  save_ranks(saved, {test::state_at(4)}, 4);
  const std::string name = manifest_name(4);
  const std::string good = saved.store.objects().at(name);
  saved.store.replace(name, good.substr(0, good.size() / 2));
  auto newest = fetch_newest(saved.store, {});
  REQUIRE(newest.has_value());
  CHECK(newest->chain[0].step() == 3);
  REQUIRE(newest->passed_over.size() == 1);
  CHECK(newest->passed_over[0].step == 4);
  saved.store.replace(name, good);
  CHECK(fetch_newest(saved.store, {})->chain[0].step() == 4);
  CHECK(fetch_newest(saved.store, {}, 4)->chain[0].step() == 3);
  CHECK(fetch_newest(saved.store, {}, 3)->chain.empty());
}

TEST_CASE("Planes give back every bf16, and are refused when damaged") {
  Rng rng(8);
  for (int round = 0; round < 200; ++round) {
    std::string bf16;
    const std::uint64_t spread = 1 + rng.below(0x800);
    const std::size_t count = rng.below(400);
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t bits = rng.chance(0.02) ? rng.below(0x10000) : 0x3c00 + rng.below(spread);
      bf16 += static_cast<char>(bits & 0xffU);
      bf16 += static_cast<char>(bits >> 8U);
    }
    const auto stored = encode_planes(bytes_of(bf16));
    if (!stored) continue;
    CHECK(stored->size() < bf16.size());
    std::string back(bf16.size(), '\0');
    const auto into = std::as_writable_bytes(std::span(back));
    REQUIRE(decode_planes(bytes_of(*stored), into).has_value());
    CHECK(back == bf16);
    CHECK_FALSE(decode_planes(bytes_of(stored->substr(1)), into).has_value());
    CHECK_FALSE(decode_planes(bytes_of(*stored + "x"), into).has_value());
  }
}

TEST_CASE("Boxes share every element they have in common, once") {
  Rng rng(21);
  for (int round = 0; round < 300; ++round) {
    const std::size_t dimensions = rng.below(4);
    Shape offsets[2];
    Shape shapes[2];
    for (int box = 0; box < 2; ++box)
      for (std::size_t d = 0; d < dimensions; ++d) {
        offsets[box].push_back(static_cast<std::int64_t>(rng.below(4)));
        shapes[box].push_back(static_cast<std::int64_t>(rng.below(5)));
      }
    // Numbers of the elements of a box, by their place in the whole.
    const auto numbered = [&](int box) {
      std::map<Shape, std::int64_t> places;
      const std::int64_t count = *element_count(shapes[box]);
      for (std::int64_t i = 0; i < count; ++i) {
        Shape at(dimensions);
        std::int64_t rest = i;
        for (std::size_t d = dimensions; d-- > 0; rest /= shapes[box][d])
          at[d] = offsets[box][d] + rest % shapes[box][d];
        places.emplace(at, i);
      }
      return places;
    };
    std::map<std::int64_t, std::int64_t> expected;
    const auto second = numbered(1);
    for (const auto& [at, number] : numbered(0))
      if (const auto found = second.find(at); found != second.end())
        expected.emplace(number, found->second);
    std::map<std::int64_t, std::int64_t> found;
    for_each_common({offsets[0], shapes[0]}, {offsets[1], shapes[1]}, 2, [&](const Stretch& one) {
      for (std::int64_t i = 0; i < one.bytes; i += 2)
        CHECK(found.emplace((one.from + i) / 2, (one.to + i) / 2).second);
    });
    CHECK(found == expected);
  }
}

}  // namespace
}  // namespace amdahl::checkpoint

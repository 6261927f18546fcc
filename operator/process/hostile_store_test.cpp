#include <catch2/catch.hpp>

#include "checkpoint/engine/test_state.hpp"
#include "checkpoint/format/document.hpp"
#include "checkpoint/store/memory_store.hpp"
#include "operator/process/checkpoint_finder.hpp"

namespace amdahl {
namespace {

using checkpoint::MemoryStore;

const checkpoint::RankIdentity kWho = checkpoint::test::identity("a");

// A store with a sound checkpoint of step 60.
void save_one(MemoryStore& store) {
  RealClock clock;
  checkpoint::RealWaiter waiter;
  const auto engine =
      checkpoint::Engine::open(store, clock, waiter, checkpoint::test::small_options(kWho));
  REQUIRE(engine.has_value());
  REQUIRE(checkpoint::test::save_step(**engine, 60));
}

// As write_receipt() and write_manifest() seal them: any text can be sealed.
std::string sealed(const std::string& body) {
  return checkpoint::seal_document(body);
}

// The records of step 70 by somebody who wants to hurt the reader.
struct Hostile {
  std::string_view name;
  std::string receipt;              // its text
  std::string manifest = {};        // empty: a sound one that names the receipt
  std::int64_t claimed_bytes = -1;  // of the receipt; -1: as many as it has
  std::size_t ranks = 1;
  bool other_digest = false;
  std::string_view words = {};  // in what is said of step 70
};

void put_hostile(MemoryStore& store, const Hostile& hostile) {
  checkpoint::Manifest manifest{.job_uid = kWho.job_uid, .step = 70, .save_id = "00000000000000aa"};
  const std::string zero(64, '0');
  for (std::size_t rank = 0; rank < hostile.ranks; ++rank) {
    const std::string digest =
        hostile.other_digest ? zero : checkpoint::hex(checkpoint::sha256(hostile.receipt));
    const auto bytes = static_cast<std::int64_t>(hostile.receipt.size());
    manifest.receipts.push_back({.bytes = hostile.claimed_bytes < 0 ? bytes : hostile.claimed_bytes,
                                 .sha256 = digest,
                                 .root = zero});
    store.replace(checkpoint::write_name({.kind = checkpoint::ObjectKind::kReceipt,
                                          .step = 70,
                                          .save_id = manifest.save_id,
                                          .rank = static_cast<std::int32_t>(rank)}),
                  hostile.receipt);
  }
  manifest.root = checkpoint::checkpoint_root(manifest.receipts);
  store.replace(checkpoint::manifest_name(70),
                hostile.manifest.empty() ? checkpoint::write_manifest(manifest) : hostile.manifest);
}

std::string many(std::string_view piece, std::size_t bytes) {
  std::string text;
  while (text.size() < bytes) text += piece;
  return text;
}

std::vector<Hostile> hostile_stores() {
  constexpr std::size_t kMiB = std::size_t{1} << 20U;
  const std::string head = R"({"format":1,"jobUid":"x","objects":[)";
  const std::string object =
      R"({"bytes":10,"chunkBytes":1024,"crc32c":"AAAA","name":"blobs/x","root":"r"})";
  const std::string deep = head + many("[", 8 * kMiB);
  const std::string objects = head + many(object + ",", 8 * kMiB) + object + "]}";
  return {
      {.name = "deep", .receipt = sealed(deep), .words = "canonical"},
      {.name = "empty values",
       .receipt = sealed(head + many("{},", 8 * kMiB)),
       .words = "canonical"},
      {.name = "another digest",
       .receipt = sealed(objects),
       .other_digest = true,
       .words = "SHA-256"},
      {.name = "other size", .receipt = "x", .claimed_bytes = 30 << 20, .words = "instead of"},
      {.name = "beyond the format", .receipt = "x", .claimed_bytes = 1LL << 40, .words = "at most"},
      {.name = "many objects", .receipt = sealed(objects), .words = "is not there"},
      {.name = "many ranks", .receipt = sealed(many("x", kMiB)), .ranks = 90, .words = "canonical"},
      {.name = "dense manifest",
       .receipt = "x",
       .manifest = sealed(R"({"format":1,"a":[)" + many("{},", kMiB / 2)),
       .words = "values"},
  };
}

TEST_CASE("find_checkpoint keeps to its budget, whatever a store holds", "[A4]") {
  for (const Hostile& hostile : hostile_stores()) {
    CAPTURE(hostile.name);
    MemoryStore store;
    save_one(store);
    put_hostile(store, hostile);
    const RealClock clock;
    checkpoint::ReadBudget all(clock, kLooksBytesMax);
    checkpoint::ReadBudget budget(clock, kLookBytesMax, &all);
    const auto found = find_checkpoint(store, {.job_uid = kWho.job_uid}, budget, {});
    REQUIRE(found);
    REQUIRE(found->newest);  // the honest one below it
    CHECK(found->newest->step == 60);
    REQUIRE(found->passed_over.size() == 1);
    CAPTURE(found->passed_over[0].why);
    CHECK(found->passed_over[0].why.find(hostile.words) != std::string::npos);
    CHECK(budget.peak() <= kLookBytesMax);
    CHECK(all.peak() == budget.peak());
  }
}

TEST_CASE("find_checkpoint: records beyond the budget are an error and no damage", "[A4]") {
  const Hostile large[] = {
      {.name = "receipt", .receipt = sealed(many("x", kLookBytesMax))},
      {.name = "manifest", .receipt = "x", .manifest = sealed(many("x", kLookBytesMax / 8))},
  };
  for (const Hostile& one : large) {
    CAPTURE(one.name);
    MemoryStore store;
    save_one(store);
    put_hostile(store, one);
    const RealClock clock;
    checkpoint::ReadBudget budget(clock, kLookBytesMax);
    const auto found = find_checkpoint(store, {.job_uid = kWho.job_uid}, budget, {});
    REQUIRE_FALSE(found);
    CHECK_FALSE(checkpoint::is_damage(found.error().code));
    CHECK(found.error().context.starts_with("checkpoint step 70: "));
    CHECK(found.error().context.find("exceeds the limit of 12582912") != std::string::npos);
  }
}

}  // namespace
}  // namespace amdahl

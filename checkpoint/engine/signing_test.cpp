#include "checkpoint/engine/signing.hpp"

#include <openssl/evp.h>
#include <openssl/pem.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <fstream>
#include <thread>

#include "checkpoint/engine/scrub.hpp"
#include "checkpoint/engine/test_state.hpp"
#include "checkpoint/engine/trusted_store.hpp"
#include "checkpoint/store/memory_store.hpp"
#include "checkpoint/store/test_folder.hpp"

namespace amdahl::checkpoint {
namespace {

using test::identity;
using test::save_step;
using test::small_options;

const std::string kImage = "sha256:" + std::string(64, 'a');

// A new pair of keys as files, as the openssl program would write them.
struct KeyPair {
  std::string secret = {};
  std::string open = {};
};
KeyPair make_keys(const TestFolder& folder, const std::string& name) {
  const KeyPair files{.secret = folder.path() + "/" + name,
                      .open = folder.path() + "/" + name + ".pub"};
  EVP_PKEY* const key = EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519");
  std::FILE* const secret = std::fopen(files.secret.c_str(), "w");
  std::FILE* const open = std::fopen(files.open.c_str(), "w");
  REQUIRE(PEM_write_PrivateKey(secret, key, nullptr, nullptr, 0, nullptr, nullptr) == 1);
  REQUIRE(PEM_write_PUBKEY(open, key) == 1);
  std::fclose(secret);
  std::fclose(open);
  EVP_PKEY_free(key);
  return files;
}

std::string file_with(const TestFolder& folder, const std::string& name, const std::string& text) {
  const std::string path = folder.path() + "/" + name;
  std::ofstream(path) << text;
  return path;
}

// The same objects, seen by somebody who trusts these keys.
std::unique_ptr<Store> seen_by(const MemoryStore& store, const std::string& keys_file,
                               std::string job_uid = "") {
  auto copy = std::make_unique<MemoryStore>();
  for (const auto& [name, bytes] : store.objects()) copy->replace(name, bytes);
  auto trusting_store = trusting(std::move(copy), keys_file, std::move(job_uid));
  REQUIRE(trusting_store.has_value());
  return *std::move(trusting_store);
}

struct World {
  MemoryStore store = {};
  RealClock clock = {};
  RealWaiter waiter = {};
  std::unique_ptr<Engine> open(EngineOptions options) {
    auto engine = Engine::open(store, clock, waiter, std::move(options));
    REQUIRE(engine.has_value());
    return *std::move(engine);
  }
};

EngineOptions signed_options(const KeyPair& keys, RankIdentity who = identity("a")) {
  EngineOptions options = small_options(std::move(who));
  options.image_digest = kImage;
  options.signing_key_file = keys.secret;
  return options;
}

// Changes five bytes so that no CRC32C over them does: what is added to them is the polynomial
// itself, lowest bit of a byte first.
void change_under_crc32c(std::string& bytes, std::size_t at) {
  constexpr std::uint64_t kPolynomial = 0x1'1EDC'6F41;
  constexpr int kBits = 33;
  for (int bit = 0; bit < kBits; ++bit)
    if ((kPolynomial >> static_cast<unsigned>(kBits - 1 - bit) & 1U) != 0)
      bytes[at + static_cast<std::size_t>(bit / 8)] ^= static_cast<char>(1U << (bit % 8U));
}

TEST_CASE("A signed tensor that was changed under the same CRC32C does not load") {
  TestFolder folder;
  const KeyPair keys = make_keys(folder, "ours");
  World world;
  REQUIRE(save_step(*world.open(signed_options(keys)), 10).has_value());
  int changed = 0;
  for (const auto& [name, bytes] : world.store.objects()) {
    const auto parsed = parse_name(name);
    if (!parsed || !holds_tensors(parsed->kind) || bytes.size() < 64) continue;
    std::string other = bytes;
    change_under_crc32c(other, other.size() - 8);
    REQUIRE(other != bytes);
    const std::string before = bytes;
    world.store.replace(name, other);
    const auto trusted = seen_by(world.store, keys.open);
    const auto newest = fetch_newest(*trusted, {});
    REQUIRE(newest.has_value());
    REQUIRE_FALSE(newest->chain.empty());
    const auto loaded = test::load_all(*trusted, newest->chain);
    REQUIRE_FALSE(loaded.has_value());
    CHECK(loaded.error().code == Errc::kCorrupt);
    CHECK(loaded.error().context.find(name + ": chunk") != std::string::npos);
    world.store.replace(name, before);
    ++changed;
  }
  CHECK(changed >= 2);
}

TEST_CASE("Signed checkpoints load for who trusts the key, and for nobody else's") {
  TestFolder folder;
  const KeyPair ours = make_keys(folder, "ours");
  const KeyPair theirs = make_keys(folder, "theirs");
  World world;
  for (const bool smaller : {false, true}) {
    EngineOptions options = signed_options(ours, identity(smaller ? "b" : "a"));
    options.planes = options.deltas = smaller;
    const auto engine = world.open(std::move(options));
    for (const std::int64_t step : {10, 20, 30})
      REQUIRE(save_step(*engine, step + (smaller ? 100 : 0)).has_value());
  }
  const auto trusted = seen_by(world.store, ours.open, identity("").job_uid);
  const auto newest = fetch_newest(*trusted, {});
  REQUIRE(newest.has_value());
  REQUIRE_FALSE(newest->chain.empty());
  CHECK(newest->chain[0].step() == 130);
  CHECK(test::load_all(*trusted, newest->chain).value() == test::expected_at(130));
  CHECK(verify_objects(*trusted, newest->chain[0], 2, {})->bad.empty());

  const auto strangers = fetch_newest(*seen_by(world.store, theirs.open), {});
  REQUIRE(strangers.has_value());
  CHECK(strangers->chain.empty());
  REQUIRE_FALSE(strangers->passed_over.empty());
  CHECK(strangers->passed_over[0].why.find("not trusted") != std::string::npos);
  const auto another_job = fetch_newest(*seen_by(world.store, ours.open, "another"), {});
  CHECK(another_job->passed_over.at(0).why.find("another job") != std::string::npos);
  // Both keys in one file: either will do, as when one follows the other.
  std::ifstream first(theirs.open);
  std::ifstream second(ours.open);
  std::stringstream both;
  both << first.rdbuf() << second.rdbuf();
  const auto either = seen_by(world.store, file_with(folder, "both", both.str()));
  CHECK(fetch_newest(*either, {})->chain.at(0).step() == 130);
}

TEST_CASE("A manifest without its signature is passed over where signatures are demanded") {
  TestFolder folder;
  const KeyPair keys = make_keys(folder, "ours");
  World world;
  const auto engine = world.open(signed_options(keys));
  REQUIRE(save_step(*engine, 10).has_value());
  REQUIRE(save_step(*engine, 20).has_value());
  const auto manifest = fetch_manifest(world.store, 20, {});
  world.store.replace(manifest_name(20), write_manifest(manifest->manifest));
  CHECK(fetch_newest(world.store, {})->chain.at(0).step() == 20);
  const auto newest = fetch_newest(*seen_by(world.store, keys.open), {});
  CHECK(newest->chain.at(0).step() == 10);
  CHECK(newest->passed_over.at(0).why.find("not signed") != std::string::npos);
}

TEST_CASE("Other ranks sum for the signature of the first without its key") {
  TestFolder folder;
  const KeyPair keys = make_keys(folder, "ours");
  for (const bool summed : {true, false}) {
    World world;
    EngineOptions second = small_options(identity("a", 1, 2));
    second.sha256 = summed;
    second.save_deadline = std::chrono::seconds(5);
    EngineOptions first = signed_options(keys, identity("a", 0, 2));
    first.save_deadline = second.save_deadline;
    const auto one = world.open(std::move(first));
    const auto two = world.open(std::move(second));
    std::jthread other([&] { (void)save_step(*two, 10); });
    const auto saved = save_step(*one, 10);
    other.join();
    CHECK(saved.has_value() == summed);
    if (!summed) CHECK(saved.error().context.find("SHA-256") != std::string::npos);
    const auto newest = fetch_newest(*seen_by(world.store, keys.open), {});
    CHECK(newest->chain.empty() == !summed);
  }
}

TEST_CASE("Frozen tensors of signed checkpoints are uploaded once") {
  TestFolder folder;
  const KeyPair keys = make_keys(folder, "ours");
  World world;
  const auto engine = world.open(signed_options(keys));
  REQUIRE(save_step(*engine, 10).has_value());
  const auto blobs = list_all(world.store, "blobs/", {})->size();
  CHECK(blobs > 0);
  REQUIRE(save_step(*engine, 20).has_value());
  CHECK(list_all(world.store, "blobs/", {})->size() == blobs);
  const auto trusted = seen_by(world.store, keys.open);
  const auto newest = fetch_newest(*trusted, {});
  CHECK(test::load_all(*trusted, newest->chain).value() == test::expected_at(20));
}

TEST_CASE("A key that is none makes the save fail, and no error shows a key") {
  TestFolder folder;
  const KeyPair keys = make_keys(folder, "ours");
  std::ifstream file(keys.secret);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  const std::string secret = text.substr(text.find('\n') + 1, 40);
  World world;
  int attempt = 0;
  for (const std::string& path :
       {folder.path() + "/absent", keys.open, file_with(folder, "empty", ""),
        file_with(folder, "cut", text.substr(0, text.size() / 2)),
        file_with(folder, "large", std::string(kKeyFileBytesMax + 1, 'x'))}) {
    const auto engine = world.open(
        signed_options({.secret = path}, identity("attempt " + std::to_string(++attempt))));
    const auto saved = save_step(*engine, attempt);
    REQUIRE_FALSE(saved.has_value());
    CHECK(saved.error().context.find(path) != std::string::npos);
    CHECK(saved.error().context.find(secret) == std::string::npos);
    CHECK(read_public_keys(path).has_value() == (path == keys.open));
  }
  CHECK_FALSE(read_public_keys(keys.secret).has_value());
  CHECK_FALSE(read_public_keys(file_with(folder, "tail", text + "-----BEGIN PUBLIC KEY-----\nx"))
                  .has_value());
  CHECK(fetch_steps(world.store, {})->empty());
  EngineOptions without_image = signed_options(keys);
  without_image.image_digest = "";
  CHECK_FALSE(Engine::open(world.store, world.clock, world.waiter, without_image).has_value());
}

TEST_CASE("Bytes that changed after the copy are not signed") {
  const std::string bytes(4096, 'a');
  ChunkSummer summer(1024);
  summer.add(bytes_of(bytes));
  EncodedSnapshot snapshot;
  snapshot.record.objects.push_back({.record = object_record("", summer.finish())});
  snapshot.bytes.push_back(bytes_of(bytes));
  const auto sound = with_sha256(snapshot, 2);
  REQUIRE(sound.has_value());
  CHECK(sums_of(sound->record.objects[0].record)->sha256.size() == 4);
  std::string other = bytes;
  other[2000] = 'b';
  snapshot.bytes[0] = bytes_of(other);
  CHECK(with_sha256(snapshot, 2).error().code == Errc::kCorrupt);
}

}  // namespace
}  // namespace amdahl::checkpoint

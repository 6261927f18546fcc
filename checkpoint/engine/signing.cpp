#include "checkpoint/engine/signing.hpp"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>

#include "checkpoint/engine/workers.hpp"

namespace amdahl::checkpoint {
namespace {

constexpr std::string_view kBegin = "-----BEGIN ";

struct FreeBio {
  void operator()(BIO* bio) const { BIO_free(bio); }
};
struct FreeKey {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
using Key = std::unique_ptr<EVP_PKEY, FreeKey>;

Result<std::string> read_key_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return fail(Errc::kIo, "key file {}: {}", path, std::strerror(errno));
  std::string text(kKeyFileBytesMax + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > kKeyFileBytesMax)
    return fail(Errc::kTooLarge, "key file {}: more than {} bytes", path, kKeyFileBytesMax);
  return text;
}

// A key with a password would be asked for it on the terminal; there is none here.
int no_password(char*, int, int, void*) {
  return -1;
}

unsigned char* raw(std::array<std::byte, 32>& key) {
  return reinterpret_cast<unsigned char*>(key.data());
}

}  // namespace

Result<PrivateKey> read_private_key(const std::string& path) {
  TRY(const std::string text, read_key_file(path));
  const std::unique_ptr<BIO, FreeBio> bio(
      BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
  const Key key(PEM_read_bio_PrivateKey(bio.get(), nullptr, no_password, nullptr));
  PrivateKey seed{};
  std::size_t size = seed.size();
  const bool read = key && EVP_PKEY_id(key.get()) == EVP_PKEY_ED25519 &&
                    EVP_PKEY_get_raw_private_key(key.get(), raw(seed), &size) == 1;
  ERR_clear_error();
  if (!read)
    return fail(Errc::kInvalid,
                "key file {}: no private Ed25519 key in PEM without a password, as `openssl "
                "genpkey -algorithm ed25519` writes it",
                path);
  return seed;
}

Result<std::vector<PublicKey>> read_public_keys(const std::string& path) {
  TRY(const std::string text, read_key_file(path));
  const std::unique_ptr<BIO, FreeBio> bio(
      BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
  std::vector<PublicKey> keys;
  bool good = true;
  for (;;) {
    const Key key(PEM_read_bio_PUBKEY(bio.get(), nullptr, no_password, nullptr));
    if (!key) break;
    PublicKey one{};
    std::size_t size = one.size();
    good = good && EVP_PKEY_id(key.get()) == EVP_PKEY_ED25519 &&
           EVP_PKEY_get_raw_public_key(key.get(), raw(one), &size) == 1;
    keys.push_back(one);
  }
  ERR_clear_error();
  // A block that cannot be read would be a key that is silently not trusted.
  std::size_t blocks = 0;
  for (auto at = text.find(kBegin); at != text.npos; at = text.find(kBegin, at + 1)) ++blocks;
  if (!good || keys.empty() || keys.size() != blocks)
    return fail(
        Errc::kInvalid,
        "key file {}: not one or more public Ed25519 keys in PEM, as `openssl pkey -pubout` "
        "writes them",
        path);
  return keys;
}

Result<EncodedSnapshot> with_sha256(EncodedSnapshot snapshot, int threads) {
  TRY(run_on_workers(snapshot.bytes.size(), threads, [&](std::size_t i) -> Result<void> {
    ObjectRecord& record = snapshot.record.objects[i].record;
    TRY(const ChunkSums before, sums_of(record));
    ChunkSummer summer(record.chunk_bytes, ChunkDigests::kCrc32cAndSha256);
    summer.add(snapshot.bytes[i]);
    const ChunkSums sums = summer.finish();
    if (sums.crc32c != before.crc32c)
      return fail(Errc::kCorrupt, "object {} of step {}: its memory has changed since the copy", i,
                  snapshot.record.step);
    record = object_record(record.name, sums);
    return {};
  }));
  return snapshot;
}

}  // namespace amdahl::checkpoint

// What signed checkpoints need beyond the format: keys as files, and the SHA-256 of every chunk.
//
// Keys are PEM, as `openssl genpkey -algorithm ed25519` and `openssl pkey -pubout` write them.
// Thread: any. Failure: kInvalid with the file for what is no such key; kIo when it cannot be read.
// No error holds a key.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "checkpoint/engine/encode.hpp"
#include "checkpoint/format/signature.hpp"

namespace amdahl::checkpoint {

inline constexpr std::size_t kKeyFileBytesMax = std::size_t{64} << 10U;

Result<PrivateKey> read_private_key(const std::string& path);
// One or more, one after the other.
Result<std::vector<PublicKey>> read_public_keys(const std::string& path);

// The same snapshot with a SHA-256 for every chunk, as a signature demands. kCorrupt when its bytes
// are not those that were summed when they were copied.
Result<EncodedSnapshot> with_sha256(EncodedSnapshot snapshot, int threads);

}  // namespace amdahl::checkpoint

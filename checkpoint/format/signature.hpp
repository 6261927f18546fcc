// Ed25519 signatures of manifests.
//
//   signed text = "amdahl-checkpoint-manifest-1\n"  and the first line of the manifest, with its LF
//
// The line has the job's UID, the step, the image digest and the SHA-256 of every receipt; those
// have the SHA-256 of every chunk. So a signature holds for these bytes, this job and this step.
// Which keys to trust is the caller's. Thread: any. Failure: Errc::kForbidden for a signature that
// is missing, wrong, or of somebody else; kInvalid for keys and manifests that cannot be used.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "checkpoint/format/digest.hpp"
#include "checkpoint/format/manifest.hpp"

namespace amdahl::checkpoint {

using PublicKey = std::array<std::byte, 32>;
using PrivateKey = std::array<std::byte, 32>;  // the seed of RFC 8032

std::string key_id(const PublicKey& key);
Result<PublicKey> public_key_of(const PrivateKey& key);

// The text of a signed manifest. The manifest must have an image digest.
Result<std::string> write_signed_manifest(const Manifest& manifest, const PrivateKey& key);

// What a reader expects; what is empty is not asked for.
struct ExpectedSigner {
  std::span<const PublicKey> keys = {};
  std::string job_uid = {};
  std::string image_digest = {};
};
// Of the text of a manifest that read_manifest() has accepted as `manifest`.
Result<void> check_signature(std::string_view text, const ReadManifest& manifest,
                             const ExpectedSigner& expected);

}  // namespace amdahl::checkpoint

#include "checkpoint/format/signature.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "checkpoint/format/document.hpp"

namespace amdahl::checkpoint {
namespace {

constexpr std::string_view kSignedPrefix = "amdahl-checkpoint-manifest-1\n";
constexpr std::size_t kSignatureBytes = 64;

struct FreeKey {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
struct FreeContext {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};
using Key = std::unique_ptr<EVP_PKEY, FreeKey>;
using Context = std::unique_ptr<EVP_MD_CTX, FreeContext>;

const unsigned char* raw(Bytes bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

std::string signed_text(std::string_view body_line) {
  return std::string(kSignedPrefix) + std::string(body_line);
}

Key private_key(const PrivateKey& key) {
  return Key(EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, raw(key), key.size()));
}

Result<std::string> sign(std::string_view text, const PrivateKey& key) {
  const Key pkey = private_key(key);
  const Context context(EVP_MD_CTX_new());
  std::string signature(kSignatureBytes, '\0');
  std::size_t size = signature.size();
  if (!pkey || !context ||
      EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, pkey.get()) != 1 ||
      EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(signature.data()), &size,
                     raw(bytes_of(text)), text.size()) != 1 ||
      size != kSignatureBytes)
    return fail(Errc::kInvalid, "sign a manifest: the key cannot be used");
  return signature;
}

bool is_signed_by(const PublicKey& key, std::string_view text, std::string_view signature) {
  const Key pkey(EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, raw(key), key.size()));
  const Context context(EVP_MD_CTX_new());
  return pkey && context &&
         EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, pkey.get()) == 1 &&
         EVP_DigestVerify(context.get(), raw(bytes_of(signature)), signature.size(),
                          raw(bytes_of(text)), text.size()) == 1;
}

}  // namespace

std::string key_id(const PublicKey& key) {
  return hex(sha256(Bytes(key)));
}

Result<PublicKey> public_key_of(const PrivateKey& key) {
  PublicKey result{};
  std::size_t size = result.size();
  const Key pkey = private_key(key);
  auto* const out = reinterpret_cast<unsigned char*>(result.data());
  if (!pkey || EVP_PKEY_get_raw_public_key(pkey.get(), out, &size) != 1)
    return fail(Errc::kInvalid, "public key: the private key cannot be used");
  return result;
}

Result<std::string> write_signed_manifest(const Manifest& manifest, const PrivateKey& key) {
  if (manifest.image_digest.empty())
    return fail(Errc::kInvalid, "sign the manifest of step {}: it has no image digest",
                manifest.step);
  std::string body = write_body(manifest);
  TRY(const PublicKey public_key, public_key_of(key));
  TRY(const std::string signature, sign(signed_text(body + '\n'), key));
  return seal_document(std::move(body), Signature{.key_id = key_id(public_key),
                                                  .value = base64(bytes_of(signature))});
}

Result<void> check_signature(std::string_view text, const ReadManifest& manifest,
                             const ExpectedSigner& expected) {
  const auto bad = [&](std::string_view what) {
    return fail(Errc::kForbidden, "manifest of step {}: {}", manifest.manifest.step, what);
  };
  TRY(const OpenedDocument document, open_document(text, kManifestBytesMax));
  if (!document.seal.signature) return bad("not signed");
  const Signature& signature = *document.seal.signature;
  const auto key = std::ranges::find(expected.keys, signature.key_id, key_id);
  if (key == expected.keys.end())
    return bad("signed by a key that is not trusted: " + shown(signature.key_id));
  const auto value = base64_decoded(signature.value);
  if (!value || !is_signed_by(*key, signed_text(document.body_line), *value))
    return bad("its signature is wrong");
  if (manifest.manifest.image_digest.empty()) return bad("signed without an image digest");
  if (!expected.job_uid.empty() && manifest.manifest.job_uid != expected.job_uid)
    return bad("signed for another job");  // whose UID is not for those who read this
  if (!expected.image_digest.empty() && manifest.manifest.image_digest != expected.image_digest)
    return bad("signed for another image: " + manifest.manifest.image_digest);
  return {};
}

}  // namespace amdahl::checkpoint

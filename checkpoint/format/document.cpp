#include "checkpoint/format/document.hpp"

#include <algorithm>

#include "checkpoint/format/digest.hpp"

namespace amdahl::checkpoint {
namespace {

constexpr int kSealDepthMax = 2;

Result<Seal> read_seal(std::string_view line) {
  if (line.size() > kSealBytesMax)
    return fail(Errc::kTooLarge, "{} bytes, at most {}", line.size(), kSealBytesMax);
  TRY(const Json tree, parse_strict(line, kSealDepthMax));
  TRY(Seal seal, from_tree<Seal>(tree));
  TRY(validate(seal));
  TRY(document_detail::check_canonical(line, encode(seal)));
  return seal;
}

}  // namespace

Result<OpenedDocument> open_document(std::string_view text, std::size_t bytes_max) {
  if (text.size() > bytes_max)
    return fail(Errc::kTooLarge, "{} bytes, at most {}", text.size(), bytes_max);
  const std::size_t body_bytes = text.find('\n') + 1;
  if (body_bytes == 0 || !text.ends_with('\n') || body_bytes == text.size())
    return fail(Errc::kCorrupt, "cut off: expected two lines, body and seal");
  const std::string_view seal_line = text.substr(body_bytes, text.size() - body_bytes - 1);
  auto seal = read_seal(seal_line);
  if (!seal) return wrap(std::move(seal).error(), "seal");
  OpenedDocument document{.body_line = text.substr(0, body_bytes), .seal = *std::move(seal)};
  const std::string found = hex(sha256(document.body_line));
  if (found != document.seal.sha256)
    return fail(Errc::kCorrupt, "damaged: SHA-256 of the body is {}, the seal says {}", found,
                shown(document.seal.sha256));
  return document;
}

std::string seal_document(std::string body, std::optional<Signature> signature) {
  body += '\n';
  const Seal seal{.sha256 = hex(sha256(body)), .signature = std::move(signature)};
  return body + write_body(seal) + '\n';
}

Result<Json> document_detail::parse_body(std::string_view body) {
  TRY(Json tree, parse_strict(body, kDocumentDepthMax));
  const auto version = tree.is_object() ? tree.find("format") : tree.end();
  if (!tree.is_object() || version == tree.end() || !version->is_number_integer())
    return fail(Errc::kInvalid, "not a document of a checkpoint: it has no format version");
  if (*version != kFormatVersion)
    return fail(Errc::kInvalid, "format {}: this reader knows {}", version->get<std::int64_t>(),
                kFormatVersion);
  return tree;
}

Result<void> document_detail::check_canonical(std::string_view body, const Json& written) {
  const std::string text = dump_json(written);
  if (text == body) return {};
  const auto at = std::ranges::mismatch(text, body).in2 - body.begin();
  return fail(Errc::kInvalid, "not in canonical form at byte {}", at);
}

}  // namespace amdahl::checkpoint

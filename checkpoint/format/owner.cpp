#include "checkpoint/format/owner.hpp"

#include <utility>

#include "checkpoint/format/document.hpp"

namespace amdahl::checkpoint {

std::string write_owner(const Owner& owner) {
  return seal_document(write_body(owner));
}

Result<Owner> read_owner(std::string_view text) {
  const auto read = [&]() -> Result<Owner> {
    TRY(const OpenedDocument document, open_document(text, kOwnerBytesMax));
    if (document.seal.signature) return fail(Errc::kInvalid, "only a manifest is signed");
    return read_body<Owner>(document.body_line);
  };
  auto owner = read();
  if (!owner) return wrap(std::move(owner).error(), "owner.jsonl");
  return owner;
}

}  // namespace amdahl::checkpoint

#include "checkpoint/format/names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <utility>

#include "base/check.hpp"
#include "checkpoint/format/digest.hpp"

namespace amdahl::checkpoint {
namespace {

// Eats a text from its front; once something does not fit, nothing does.
class Eater {
 public:
  explicit Eater(std::string_view text) : rest_(text) {}
  bool literal(std::string_view wanted) {
    if (!rest_.starts_with(wanted)) return false;
    rest_.remove_prefix(wanted.size());
    return true;
  }
  template <class Number>
  bool number(std::size_t digits, Number& into) {
    const std::string_view text = rest_.substr(0, digits);
    if (text.size() != digits || text.find_first_not_of("0123456789") != text.npos) return false;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), into);
    rest_.remove_prefix(digits);
    return error == std::errc{};
  }
  bool digest(std::size_t digits, std::string& into) {
    into = rest_.substr(0, digits);
    rest_.remove_prefix(into.size());
    return is_hex(into, digits);
  }
  bool done() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

bool eat_step(Eater& eater, ObjectName& name) {
  return eater.number(20, name.step) && name.step <= kStepMax;
}

bool eat_save_and_rank(Eater& eater, ObjectName& name) {
  return eat_step(eater, name) && eater.literal("-") && eater.digest(kSaveIdDigits, name.save_id) &&
         eater.literal("-") && eater.number(5, name.rank) && name.rank < kRanksMax;
}

bool eat_data(Eater& eater, ObjectName& name) {
  if (!eat_save_and_rank(eater, name) || !eater.literal("-") || !eater.number(5, name.part) ||
      name.part >= kPartsMax)
    return false;
  name.kind = eater.literal(".amdahl") ? ObjectKind::kEncoded : ObjectKind::kData;
  return name.kind == ObjectKind::kEncoded || eater.literal(".safetensors");
}

bool eat_name(Eater& eater, ObjectName& name) {
  if (eater.literal("data/")) return eat_data(eater, name);
  if (eater.literal("receipts/")) {
    name.kind = ObjectKind::kReceipt;
    return eat_save_and_rank(eater, name) && eater.literal(".jsonl");
  }
  if (eater.literal("manifests/")) {
    name.kind = ObjectKind::kManifest;
    return eat_step(eater, name) && eater.literal(".jsonl");
  }
  if (eater.literal("blobs/")) {
    name.kind = ObjectKind::kBlob;
    return eater.digest(kBlobDigits, name.sha256) && eater.literal(".safetensors");
  }
  if (eater.literal("pins/")) {
    name.kind = ObjectKind::kPin;
    return eat_step(eater, name);
  }
  return eater.literal("owner.jsonl");
}

std::string spell(const ObjectName& name) {
  const auto of_rank = [&] {
    return fmt::format("{:020}-{}-{:05}", name.step, name.save_id, name.rank);
  };
  switch (name.kind) {
    case ObjectKind::kOwner:
      return "owner.jsonl";
    case ObjectKind::kData:
      return fmt::format("data/{}-{:05}.safetensors", of_rank(), name.part);
    case ObjectKind::kEncoded:
      return fmt::format("data/{}-{:05}.amdahl", of_rank(), name.part);
    case ObjectKind::kBlob:
      return fmt::format("blobs/{}.safetensors", name.sha256);
    case ObjectKind::kReceipt:
      return fmt::format("receipts/{}.jsonl", of_rank());
    case ObjectKind::kManifest:
      return manifest_name(name.step);
    case ObjectKind::kPin:
      return fmt::format("pins/{:020}", name.step);
  }
  std::unreachable();
}

}  // namespace

std::string write_name(const ObjectName& name) {
  std::string text = spell(name);
  AMDAHL_CHECK(parse_name(text) == name);
  return text;
}

std::optional<ObjectName> parse_name(std::string_view text) {
  if (text.size() > kNameBytesMax) return std::nullopt;
  ObjectName name;
  Eater eater(text);
  if (!eat_name(eater, name) || !eater.done()) return std::nullopt;
  return name;
}

std::string manifest_name(std::int64_t step) {
  return fmt::format("manifests/{:020}.jsonl", step);
}

bool is_folder_of_ours(std::string_view name) {
  constexpr std::string_view kFolders[] = {"blobs", "data", "manifests", "pins", "receipts"};
  return std::ranges::find(kFolders, name) != std::end(kFolders);
}

}  // namespace amdahl::checkpoint

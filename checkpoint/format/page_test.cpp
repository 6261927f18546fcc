// docs/reference/checkpoint-format.md: its tables come from the field tables and constants, its
// examples from the golden files. AMDAHL_UPDATE_GOLDEN=1 writes them anew.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/schema.hpp"
#include "checkpoint/format/document.hpp"
#include "checkpoint/format/owner.hpp"
#include "checkpoint/format/planes.hpp"
#include "checkpoint/format/state.hpp"
#include "checkpoint/format/test_sample.hpp"
#include "checkpoint/format/verifier.hpp"

namespace amdahl::checkpoint::test {
namespace {

const std::string kPage = "docs/reference/checkpoint-format.md";

std::string fenced(const std::string& text) {
  return "```\n" + text + "```\n";
}

// As `hexdump -C` shows it, without its last line.
std::string hex_dump(std::string_view bytes) {
  std::string dump;
  for (std::size_t at = 0; at < bytes.size(); at += 16) {
    const std::string_view line = bytes.substr(at, 16);
    std::string digits;
    std::string letters;
    for (std::size_t i = 0; i < line.size(); ++i) {
      digits += fmt::format("{}{:02x} ", i == 8 ? " " : "", static_cast<unsigned char>(line[i]));
      letters += line[i] >= ' ' && line[i] <= '~' ? line[i] : '.';
    }
    dump += fmt::format("{:08x}  {:<50}|{}|\n", at, digits, letters);
  }
  return dump;
}

std::string bounds() {
  const std::vector<std::pair<std::string, std::int64_t>> rows = {
      {"step", kStepMax},
      {"ranks", kRanksMax},
      {"data objects of a rank in a save", kPartsMax},
      {"objects of a receipt", kObjectsMax},
      {"tensors of an object, of a receipt", kTensorsMax},
      {"bytes of a tensor's name", kTensorNameMax},
      {"dimensions of a tensor", kDimensionsMax},
      {"dimensions along which a tensor is cut", kShardedDimensionsMax},
      {"elements of a tensor", kElementsMax},
      {"bytes of an object", kObjectBytesMax},
      {"bytes of a chunk, at least", kChunkBytesMin},
      {"bytes of a chunk, at most", kChunkBytesMax},
      {"chunks of an object", kChunksMax},
      {"bytes of a header's JSON", kHeaderBytesMax},
      {"names in `__metadata__`", kMetadataMax},
      {"bytes of an owner record", kOwnerBytesMax},
      {"bytes of a receipt", kReceiptBytesMax},
      {"bytes of a manifest", kManifestBytesMax},
      {"bytes of a seal", kSealBytesMax},
      {"nesting of a record", kDocumentDepthMax},
      {"nesting of a state", kStateDepthMax},
      {"digits of an `$int`", kIntDigitsMax},
      {"metrics of a manifest", kMetricsMax},
      {"parents of a delta", kChainMax},
      {"planes of a tensor", kPlanesMax},
  };
  std::string text = "| what | bound |\n| --- | --- |\n";
  for (const auto& [what, bound] : rows) text += fmt::format("| {} | {} |\n", what, bound);
  return text;
}

std::string dtypes() {
  std::string text = "| dtype | bytes |\n| --- | --- |\n";
  for (const auto& entry : enum_names(Dtype{}))
    text += fmt::format("| `{}` | {} |\n", entry.name, element_bytes(entry.value));
  return text;
}

std::map<std::string, std::string> generated_parts() {
  const Prefix prefix = sample_prefix();
  const std::string blob = prefix.lower_bound("blobs/")->first;
  return {{"seal", reference_table<Seal>("Seal")},
          {"owner", reference_table<Owner>("Owner")},
          {"receipt", reference_table<Receipt>("Receipt")},
          {"manifest", reference_table<Manifest>("Manifest")},
          {"bounds", bounds()},
          {"dtypes", dtypes()},
          {"example-object", fenced(blob + "\n" + hex_dump(prefix.at(blob)))},
          {"example-manifest", fenced(prefix.at(manifest_name(kDeltaStep)))}};
}

// Replaces what stands between the marks of a part.
std::string with_part(const std::string& page, const std::string& part, const std::string& text) {
  const std::string begin = "<!-- generated: " + part + " -->\n";
  const std::size_t from = page.find(begin);
  REQUIRE(from != std::string::npos);
  const std::size_t to = page.find("<!-- end -->", from);
  REQUIRE(to != std::string::npos);
  return page.substr(0, from + begin.size()) + "\n" + text + "\n" + page.substr(to);
}

TEST_CASE("The page about the format says what the library does") {
  const std::string page = file_text(kPage);
  std::string wanted = page;
  for (const auto& [part, text] : generated_parts()) wanted = with_part(wanted, part, text);
  if (std::getenv("AMDAHL_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(kPage) << wanted;
    return;
  }
  INFO("stale: run it again with AMDAHL_UPDATE_GOLDEN=1");
  CHECK(wanted == page);
}

}  // namespace
}  // namespace amdahl::checkpoint::test

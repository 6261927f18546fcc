// A manifest whose body is the input and whose seal fits it: what is accepted is written back to
// the same bytes. Inputs that are whole texts, seal and all, are tried as they are too.
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "base/check.hpp"
#include "checkpoint/format/document.hpp"
#include "checkpoint/format/manifest.hpp"

namespace {

void try_text(const std::string& text) {
  namespace checkpoint = amdahl::checkpoint;
  const auto document = checkpoint::open_document(text, checkpoint::kManifestBytesMax);
  if (!document) return;
  const auto value = checkpoint::read_body<checkpoint::Manifest>(document->body_line);
  if (!value || !checkpoint::check_manifest(*value)) return;
  AMDAHL_CHECK(checkpoint::write_body(*value) + '\n' == document->body_line);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  try_text(text);
  try_text(amdahl::checkpoint::seal_document(text.substr(0, text.find('\n'))));
  return 0;
}

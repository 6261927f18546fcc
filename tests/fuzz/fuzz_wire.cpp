// Protobuf of every kind, in and out of its envelopes: never a crash, and what decodes can be
// written as JSON.
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/json_encode.hpp"
#include "base/wire_decode.hpp"
#include "operator/kube/wire_envelope.hpp"
#include "tests/fuzz/tables.hpp"

namespace {

struct Decode {
  std::string_view bytes;

  template <class Kind>
  void operator()() const {
    if constexpr (amdahl::has_wire<Kind>) {
      const auto object = amdahl::decode_wire<Kind>(bytes);
      if (object) (void)amdahl::encode(*object).dump();
    }
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace amdahl;
  if (size < 1) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  fuzz::with_kind(data[0], Decode{bytes});
  if (const auto object = kube::unwrap_object(bytes)) fuzz::with_kind(data[0], Decode{object->raw});
  if (const auto event = kube::unwrap_watch_event(bytes)) (void)kube::unwrap_object(event->object);
  (void)kube::unwrap_list(bytes, [](std::string_view item) -> Result<void> {
    (void)decode_wire<kube::Pod>(item);
    return {};
  });
  return 0;
}

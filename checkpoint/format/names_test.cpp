#include "checkpoint/format/names.hpp"

#include <catch2/catch.hpp>

namespace amdahl::checkpoint {
namespace {

const std::string kSha = std::string(63, 'a') + "0";

TEST_CASE("Names are written and parsed to the same") {
  const std::string save = "0123456789abcdef";
  const auto rows = std::vector<std::pair<ObjectName, std::string>>{
      {{.kind = ObjectKind::kOwner}, "owner.jsonl"},
      {{.kind = ObjectKind::kData, .step = 7, .save_id = save, .rank = 3, .part = 12},
       "data/00000000000000000007-0123456789abcdef-00003-00012.safetensors"},
      {{.kind = ObjectKind::kEncoded, .step = kStepMax, .save_id = save, .rank = kRanksMax - 1},
       "data/00009007199254740991-0123456789abcdef-65535-00000.amdahl"},
      {{.kind = ObjectKind::kBlob, .sha256 = kSha}, "blobs/" + kSha + ".safetensors"},
      {{.kind = ObjectKind::kReceipt, .save_id = save},
       "receipts/00000000000000000000-0123456789abcdef-00000.jsonl"},
      {{.kind = ObjectKind::kManifest, .step = 10}, "manifests/00000000000000000010.jsonl"},
      {{.kind = ObjectKind::kPin, .step = 10}, "pins/00000000000000000010"},
  };
  for (const auto& [name, text] : rows) {
    CHECK(write_name(name) == text);
    CHECK(parse_name(text) == name);
  }
}

TEST_CASE("Names sort by step, then save and rank") {
  CHECK(manifest_name(9) < manifest_name(10));
  CHECK(manifest_name(99) < manifest_name(kStepMax));
}

TEST_CASE("Names that are not ours are refused") {
  const auto rows = std::vector<std::string>{
      "",
      "owner.json",
      "owner.jsonl ",
      "/owner.jsonl",
      "./owner.jsonl",
      "../owner.jsonl",
      "latest",
      "manifests/",
      "manifests/10.jsonl",
      "manifests/0000000000000000010.jsonl",
      "manifests/000000000000000000010.jsonl",
      "manifests/+0000000000000000010.jsonl",
      "manifests/-0000000000000000010.jsonl",
      "manifests/00009007199254740992.jsonl",
      "manifests/99999999999999999999.jsonl",
      "manifests/00000000000000000010.jsonl.tmp",
      "manifests/../manifests/00000000000000000010.jsonl",
      "data/00000000000000000007-0123456789ABCDEF-00003-00012.safetensors",
      "data/00000000000000000007-0123456789abcde-00003-00012.safetensors",
      "data/00000000000000000007-0123456789abcdef-65536-00012.safetensors",
      "data/00000000000000000007-0123456789abcdef-00003-65536.safetensors",
      "data/00000000000000000007-0123456789abcdef-00003-00012",
      "data/00000000000000000007-0123456789abcdef-00003-00012.pt",
      "data/00000000000000000007-0123456789abcdef-00003-00012.amdahl.safetensors",
      "receipts/00000000000000000007-0123456789abcdef-00003-00012.jsonl",
      "blobs/abc.safetensors",
      "blobs/" + kSha,
      "pins/10",
      std::string("pins/0000000000000000001\0", 24),
  };
  for (const std::string& text : rows) {
    INFO(text);
    CHECK_FALSE(parse_name(text));
  }
}

}  // namespace
}  // namespace amdahl::checkpoint

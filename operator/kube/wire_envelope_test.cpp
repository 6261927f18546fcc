#include "operator/kube/wire_envelope.hpp"

#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/test_wire_writer.hpp"
#include "base/wire_decode.hpp"
#include "operator/kube/types_pod.hpp"

namespace amdahl::kube {
namespace {

// Written by Kubernetes' own serializers: testdata/make_fixtures.go.
std::string fixture(const std::string& file) {
  std::ifstream stream("operator/kube/testdata/" + file, std::ios::binary);
  REQUIRE(stream);
  return {std::istreambuf_iterator<char>(stream), {}};
}

constexpr std::string_view kMagic{"k8s\0", 4};

TEST_CASE("unwrap_object gives type and raw bytes without copying", "[C9]") {
  const std::string bytes = fixture("lease.pb");
  const auto object = unwrap_object(bytes);
  REQUIRE(object);
  CHECK(object->api_version == "coordination.k8s.io/v1");
  CHECK(object->kind == "Lease");
  CHECK(object->encoding == Encoding::kProtobuf);
  CHECK(object->raw.data() > bytes.data());
  CHECK(object->raw.data() + object->raw.size() <= bytes.data() + bytes.size());
}

TEST_CASE("unwrap_object knows JSON in an envelope and refuses the rest", "[C9][C8]") {
  const auto with_type = [](std::string_view type) {
    return std::string(kMagic) + WireWriter().text(2, "{}").text(4, type).bytes();
  };
  CHECK(unwrap_object(with_type("application/json"))->encoding == Encoding::kJson);
  CHECK(unwrap_object(with_type("application/vnd.kubernetes.protobuf"))->encoding ==
        Encoding::kProtobuf);
  CHECK(unwrap_object(with_type("text/html")).error().code == Errc::kInvalid);
  CHECK(unwrap_object(std::string(kMagic) + WireWriter().text(3, "gzip").bytes()).error().code ==
        Errc::kInvalid);
  CHECK(unwrap_object("").error().code == Errc::kCorrupt);
  CHECK(unwrap_object("k8s").error().code == Errc::kCorrupt);
  CHECK(unwrap_object("{\"kind\":1}").error().code == Errc::kCorrupt);
  CHECK(unwrap_object(std::string(kMagic) + "\x12\x7f").error().code == Errc::kCorrupt);
  CHECK(
      unwrap_object(std::string(kMagic) + WireWriter().text(1, "\x0a\x05").bytes()).error().code ==
      Errc::kCorrupt);
}

TEST_CASE("unwrap_watch_event gives the type and the object in its own envelope", "[C9]") {
  const std::string bytes = fixture("watch_event.pb");
  const auto event = unwrap_watch_event(bytes);
  REQUIRE(event);
  CHECK(event->type == "ADDED");
  const auto object = unwrap_object(event->object);
  REQUIRE(object);
  CHECK(object->kind == "Pod");
  const auto pod = decode_wire<Pod>(object->raw);
  REQUIRE(pod);
  CHECK(pod->metadata.name == "llama-1-0");
  for (std::size_t size = 0; size < bytes.size(); ++size)
    if (const auto cut = unwrap_watch_event(std::string_view(bytes).substr(0, size)))
      CHECK(cut->object.empty());
}

TEST_CASE("unwrap_list hands out items in order and stops at the first error", "[C9]") {
  const std::string bytes = fixture("pod_list.pb");
  const auto object = unwrap_object(bytes);
  REQUIRE(object);
  CHECK(object->kind == "PodList");
  std::vector<std::string> names;
  const auto list = unwrap_list(object->raw, [&](std::string_view item) -> Result<void> {
    TRY(const Pod pod, decode_wire<Pod>(item));
    names.emplace_back(pod.metadata.name);
    return {};
  });
  REQUIRE(list);
  CHECK(names == std::vector<std::string>{"llama-1-0", "llama-1-1"});
  CHECK(list->version == "555");
  CHECK(list->next_page == "token");
  CHECK(list->remaining == 40);
  int calls = 0;
  const auto stopped = unwrap_list(object->raw, [&](std::string_view) -> Result<void> {
    ++calls;
    return fail(Errc::kInvalid, "no");
  });
  CHECK_FALSE(stopped);
  CHECK(calls == 1);
  const auto cut = unwrap_list(object->raw.substr(0, object->raw.size() - 1),
                               [](std::string_view) -> Result<void> { return {}; });
  CHECK_FALSE(cut);
}

}  // namespace
}  // namespace amdahl::kube

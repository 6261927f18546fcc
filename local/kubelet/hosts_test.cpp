#include "local/kubelet/hosts.hpp"

#include <catch2/catch.hpp>

#include "local/kubelet/node_room.hpp"

namespace amdahl::local {
namespace {

TEST_CASE("hosts_text() names pods, gang members and services") {
  const std::vector<HostPod> pods{
      {.name = "llama-0",
       .hostname = "llama-0",
       .subdomain = "llama",
       .address = "127.64.0.1",
       .labels = {{"job", "llama"}}},
      {.name = "web", .hostname = "web", .address = "127.64.0.2"},
      {.name = "late", .hostname = "late", .labels = {{"job", "llama"}}}};
  const std::vector<HostService> services{{.name = "all", .selector = {{"job", "llama"}}},
                                          {.name = "none"}};
  CHECK(hosts_text("127.0.0.1 localhost", "ns", pods, services) ==
        "127.0.0.1 localhost\n"
        "127.64.0.1 llama-0 llama-0.ns llama-0.ns.svc llama-0.ns.svc.cluster.local "
        "llama-0.llama llama-0.llama.ns llama-0.llama.ns.svc llama-0.llama.ns.svc.cluster.local\n"
        "127.64.0.2 web web.ns web.ns.svc web.ns.svc.cluster.local\n"
        "127.64.0.1 all all.ns all.ns.svc all.ns.svc.cluster.local\n");
}

TEST_CASE("hosts_text() has each address twice where libnss-wrapper reads it") {
  const std::vector<HostPod> pods{{.name = "web", .hostname = "web", .address = "127.64.0.2"}};
  CHECK(hosts_text("", "ns", pods, {}, HostsFor::kNssWrapper) ==
        "127.64.0.2 web web.ns web.ns.svc web.ns.svc.cluster.local\n"
        "::ffff:127.64.0.2 web web.ns web.ns.svc web.ns.svc.cluster.local\n");
}

TEST_CASE("GpuSlots gives each slot to one holder at a time") {
  GpuSlots slots(4);
  CHECK(slots.take("a", 1) == std::vector<int>{0});
  CHECK(slots.take("b", 2) == std::vector<int>{1, 2});
  CHECK_FALSE(slots.take("c", 2));
  CHECK(slots.free() == 1);
  slots.give_back("a");
  CHECK(slots.take("c", 2) == std::vector<int>{0, 3});
  CHECK(slots.take("d", 0) == std::vector<int>{});
  CHECK_FALSE(slots.take("e", 1));
}

TEST_CASE("Addresses are distinct, wished for when free, and not reused at once") {
  Addresses addresses;
  CHECK(addresses.take("a") == "127.64.0.1");
  CHECK(addresses.take("b", "127.64.0.1") == "127.64.0.2");
  CHECK(addresses.take("c", "127.70.0.9") == "127.70.0.9");
  CHECK(addresses.take("a", "127.70.0.1") == "127.64.0.1");
  addresses.give_back("a");
  CHECK(addresses.take("d") == "127.64.0.3");
  for (int i = 0; i < 300; ++i) {
    const auto address = addresses.take("x" + std::to_string(i));
    REQUIRE(address);
    CHECK_FALSE(address->ends_with(".0"));
    CHECK_FALSE(address->ends_with(".255"));
  }
}

}  // namespace
}  // namespace amdahl::local

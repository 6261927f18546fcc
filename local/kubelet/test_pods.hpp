// Pods for tests, from short JSON.
#pragma once

#include <catch2/catch.hpp>
#include <string>

#include "base/json_decode.hpp"
#include "local/kubelet/types_pod.hpp"

namespace amdahl::local {

inline Pod pod_of(const std::string& spec, const std::string& status = "{}") {
  const std::string text = R"({"metadata":{"name":"p","namespace":"ns","uid":"u1",
      "labels":{"app":"a","tier":"x\"y"},"annotations":{"note":"n"}},"spec":)" +
                           spec + R"(,"status":)" + status + "}";
  auto pod = decode<Pod>(text);
  INFO((pod ? "" : pod.error().context));
  REQUIRE(pod);
  return *pod;
}

inline WallTime at(int seconds) {
  return WallTime{std::chrono::seconds{1'800'000'000 + seconds}};
}

}  // namespace amdahl::local

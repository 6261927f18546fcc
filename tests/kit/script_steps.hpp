// What a Script is made of. For scripted_server.cpp and script.cpp only.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <variant>

#include "tests/kit/scripted_server.hpp"

namespace amdahl::testkit {

struct Expect {};
struct Reply {
  std::function<std::string(const ReceivedRequest&)> answer;
};
struct Send {
  std::string bytes;
  std::size_t piece = 0;  // 0: all at once
};
struct SendZeros {
  std::uint64_t count = 0;
};
struct Delay {
  std::chrono::nanoseconds time{};
};
struct Wait {
  std::shared_ptr<Gate> gate;
};
struct Call {
  std::function<void()> function;
};
struct StartTls {
  std::shared_ptr<TlsIdentity> identity;
};
struct Close {};
struct Reset {};
struct Silence {};
struct Forever {};

struct Step : std::variant<Expect, Reply, Send, SendZeros, Delay, Wait, Call, StartTls, Close,
                           Reset, Silence, Forever> {
  using variant::variant;
};

}  // namespace amdahl::testkit

// The runtime seen from outside: a program whose every step is a line of JSON on standard output.
// The tests of this folder start it beside a real API server and do bad things to both.
#pragma once

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <string>

#include "base/clock.hpp"
#include "base/fields.hpp"
#include "base/rng.hpp"
#include "base/task.hpp"
#include "operator/kube/session.hpp"

namespace amdahl::probe {

struct Options {
  std::string mode = {};
  std::string kubeconfig = {};
  std::string context = {};
  std::string ns = "default";
  std::string labels = {};
  std::string identity = {};
  std::uint32_t workers = 1;
  std::uint32_t rounds = 1;
};

struct World {
  boost::asio::io_context& io;
  RealClock& clock;
  Rng rng;
  kube::Session& session;
  const Options& options;
};

// One line, flushed.
void say(const Json& event);

// Each runs until it is done or the process is asked to stop; the value is the exit code.
Task<int> watch(World& world);
Task<int> lead(World& world);
Task<int> storm(World& world);

}  // namespace amdahl::probe

// For the tests of the work queue.
#pragma once

#include <boost/asio/io_context.hpp>
#include <string>
#include <vector>

#include "operator/controller/work_queue.hpp"

namespace amdahl::controller {

inline ObjectKey queue_key(int index, std::string ns = "ns") {
  return {.ns = std::move(ns), .name = fmt::format("job-{}", index)};
}

struct QueueBench {
  boost::asio::io_context io;
  ManualClock clock;
  WorkQueue queue{io.get_executor(), clock, Rng(1)};

  std::string pop_name() {
    const auto popped = queue.try_pop();
    return popped ? popped->name : "";
  }
  std::vector<std::string> pop_all() {
    std::vector<std::string> names;
    while (const auto popped = queue.try_pop()) {
      names.push_back(kube::to_string(*popped));
      queue.done(*popped);
    }
    return names;
  }
};

}  // namespace amdahl::controller

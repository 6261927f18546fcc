// What the benchmark's programs share: the command line, the way to the server, and the JSON lines
// the driver reads.
//
// Thread: one. Failure: an argument that is unknown or no number is Errc::kInvalid; connect() fails
// as the kubeconfig does.
#pragma once

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "operator/kube/session.hpp"

namespace amdahl::bench {

struct Arguments {
  std::string verb;  // of bench_writer: load, touch, burst; of bench_creator: create, load
  std::string kubeconfig;
  bool strip = false;  // accepted as the peers accept it; our cache is always projected
  bool quiet = false;
  bool json = false;                // ask for JSON where protobuf is the default
  std::string kind = "configmaps";  // of bench_creator create: or pods
  std::int64_t pods = 20'000;
  std::int64_t jobs = 1;
  std::int64_t clients = 8;
  std::int64_t count = 0;
  std::int64_t rate = 100;  // writes a second
  std::int64_t first_seq = 1;
};

// `words` as main() has them, the program's name included.
Result<Arguments> parse_arguments(std::span<char* const> words);

Result<std::unique_ptr<kube::Session>> connect(boost::asio::io_context& io, Clock& clock,
                                               const std::string& kubeconfig);

// The namespaces of the benchmark's objects, where they are not there yet.
Task<Result<void>> make_namespaces(kube::Client& client);

// {"ev":"handler","t_ns":123,"seq":7}: one line, one write. `fields` is ready JSON, without braces.
void emit(Monotonic at, std::string_view event, std::string_view fields = {});

// The fields of the event "rusage": CPU time and memory of this process so far.
std::string usage_fields(std::uint64_t events);

}  // namespace amdahl::bench

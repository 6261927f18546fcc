// Many watches, one of which is never read: it is cut off, and costs the others nothing.
#include <malloc.h>

#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <deque>
#include <nlohmann/json.hpp>

#include "local/apiserver/front/test_front.hpp"

#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#include <sanitizer/allocator_interface.h>
#endif

namespace amdahl::local {
namespace {
namespace asio = boost::asio;
using asio::ip::tcp;

constexpr int kReaders = 99;
constexpr int kUpdates = 128;
constexpr std::size_t kValueBytes = 64 * 1024;
constexpr std::size_t kHistoryBytes = std::size_t{1} << 20;
constexpr std::chrono::milliseconds kWriteTime{1'000};
// The history, one frame of the reader that is stuck, and what else a server has meanwhile. All
// updates together are twice as much: a queue for one reader would show.
constexpr std::size_t kGrowthMax = std::size_t{4} << 20;
static_assert(kUpdates * kValueBytes >= 2 * kGrowthMax);

std::size_t allocated_bytes() {
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  return __sanitizer_get_current_allocated_bytes();
#else
  return ::mallinfo2().uordblks;
#endif
}

const kube::Resource kNamespaces{
    .version = "v1", .plural = "namespaces", .kind = "Namespace", .namespaced = false};
const kube::Resource kMaps{.version = "v1", .plural = "configmaps", .kind = "ConfigMap"};

// A watch on a socket of its own: the test decides whether it is read.
class RawWatch {
 public:
  explicit RawWatch(TestFront& front, int receive_bytes = 0) : socket_(front.io) {
    socket_.open(tcp::v4());
    if (receive_bytes > 0) socket_.set_option(tcp::socket::receive_buffer_size(receive_bytes));
    socket_.connect({asio::ip::make_address("127.0.0.1"), front.front->port()});
    const std::string request = fmt::format(
        "GET /api/v1/namespaces/default/configmaps?watch=1&resourceVersion={} HTTP/1.1\r\n"
        "Host: localhost\r\nAuthorization: Bearer {}\r\n\r\n",
        front.server.version(), front.admin);
    asio::write(socket_, asio::buffer(request));
  }

  // Until so many changes were seen, or the server closed the connection.
  Task<void> read_until(int changes) {
    constexpr std::string_view kChange = R"("type":"MODIFIED")";
    std::array<char, 16 * 1024> buffer;
    while (changes_ < changes && !closed_) {
      const auto [error, size] = co_await socket_.async_read_some(
          asio::buffer(buffer), asio::as_tuple(asio::use_awaitable));
      if (error) closed_ = true;
      tail_.append(buffer.data(), size);
      std::size_t from = 0;
      for (std::size_t at = 0; (at = tail_.find(kChange, from)) != std::string::npos; ++changes_)
        from = at + kChange.size();
      tail_.erase(0, std::max(from, tail_.size() - std::min(tail_.size(), kChange.size() - 1)));
    }
  }
  int changes() const { return changes_; }
  bool closed() const { return closed_; }

 private:
  tcp::socket socket_;
  std::string tail_;
  int changes_ = 0;
  bool closed_ = false;
};

void update(TestFront& front, int number) {
  const std::string patch =
      Json{{"data", {{"k", std::string(kValueBytes, 'a' + static_cast<char>(number % 26))}}}}
          .dump();
  REQUIRE(front.send(*kube::patch_request(kMaps, {"default", "big"}, patch, {})).status == 200);
}

void all_read(TestFront& front, std::deque<RawWatch>& readers, int changes) {
  TaskGroup reading(front.io.get_executor());
  for (RawWatch& reader : readers) reading.spawn("reader", reader.read_until(changes));
  CHECK(run_until_complete(front.io, reading.join(front.clock, front.soon())));
  for (const RawWatch& reader : readers) {
    REQUIRE(reader.changes() == changes);
    REQUIRE_FALSE(reader.closed());
  }
}

TEST_CASE("Front cuts off a watch that is never read; 99 others see everything") {
  TestFront front(":memory:", {.limits = {.write_time = kWriteTime}},
                  {.history = {.bytes_max = kHistoryBytes}});
  REQUIRE(front.create(kNamespaces, "", R"({"metadata":{"name":"default"}})").status == 201);
  REQUIRE(front.create(kMaps, "default", R"({"metadata":{"name":"big"}})").status == 201);
  update(front, 0);
  std::deque<RawWatch> readers;
  for (int number = 0; number < kReaders; ++number) readers.emplace_back(front);
  RawWatch stuck(front, 4096);
  update(front, 1);
  all_read(front, readers, 1);
  const std::size_t before = allocated_bytes();
  for (int number = 2; number <= kUpdates; ++number) {
    update(front, number);
    all_read(front, readers, number);
  }
  CHECK(allocated_bytes() < before + kGrowthMax);
  run_until_complete(front.io, [](Clock& clock) -> Task<void> {
    (void)co_await clock.sleep_for(2 * kWriteTime);
  }(front.clock));
  // What the kernel had taken before the server gave up, and then the end.
  run_until_complete(front.io, stuck.read_until(kUpdates));
  CHECK(stuck.closed());
  CHECK(stuck.changes() < kUpdates);
  update(front, kUpdates + 1);
  all_read(front, readers, kUpdates + 1);
}

}  // namespace
}  // namespace amdahl::local

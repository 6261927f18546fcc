#include "base/resolver.hpp"

#include <ares.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <span>

namespace amdahl {
namespace {

namespace ip = boost::asio::ip;

struct Question {
  Addresses found = {};
  bool done = false;
};

void add_address(Addresses& found, const sockaddr* address) {
  if (found.size() >= kAddressesMax) return;
  if (address->sa_family == AF_INET) {
    sockaddr_in in{};
    std::memcpy(&in, address, sizeof in);
    found.emplace_back(ip::address_v4(ntohl(in.sin_addr.s_addr)));
  } else if (address->sa_family == AF_INET6) {
    sockaddr_in6 in{};
    std::memcpy(&in, address, sizeof in);
    ip::address_v6::bytes_type bytes{};
    std::memcpy(bytes.data(), &in.sin6_addr, bytes.size());
    found.emplace_back(ip::address_v6(bytes, in.sin6_scope_id));
  }
}

void answered(void* argument, int status, int /*timeouts*/, ares_addrinfo* answer) {
  auto* question = static_cast<Question*>(argument);
  question->done = true;
  if (status == ARES_SUCCESS && answer != nullptr)
    for (const ares_addrinfo_node* node = answer->nodes; node != nullptr; node = node->ai_next)
      add_address(question->found, node->ai_addr);
  if (answer != nullptr) ares_freeaddrinfo(answer);
}

// Asks once, when made; answers arrive in turn(). Reads /etc/resolv.conf each time, because it is
// made seldom and the file may change.
class Lookup {
 public:
  Lookup() {
    ares_options options{};
    options.timeout = 2000;
    options.tries = 2;
    ready_ =
        ares_init_options(&channel_, &options, ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES) == ARES_SUCCESS;
  }
  // Unanswered questions are answered "destroyed" here, so they must live longer.
  ~Lookup() {
    if (ready_) ares_destroy(channel_);
  }
  Lookup(const Lookup&) = delete;
  Lookup& operator=(const Lookup&) = delete;

  void ask(const std::string& name, Question& question) {
    if (!ready_) {
      question.done = true;
      return;
    }
    ares_addrinfo_hints hints{};
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;
    ares_getaddrinfo(channel_, name.c_str(), nullptr, &hints, answered, &question);
  }

  void turn() {
    std::array<ares_socket_t, ARES_GETSOCK_MAXNUM> sockets{};
    const auto wanted =
        static_cast<unsigned>(ares_getsock(channel_, sockets.data(), ARES_GETSOCK_MAXNUM));
    bool any = false;
    for (unsigned i = 0; i < sockets.size(); ++i) {
      const bool read = ARES_GETSOCK_READABLE(wanted, i) != 0;
      const bool write = ARES_GETSOCK_WRITABLE(wanted, i) != 0;
      if (!read && !write) continue;
      const int events = (read ? POLLIN : 0) | (write ? POLLOUT : 0);
      pollfd poll_one{.fd = sockets[i], .events = static_cast<short>(events), .revents = 0};
      if (::poll(&poll_one, 1, 0) <= 0) continue;
      any = true;
      const bool can_read = (poll_one.revents & (POLLIN | POLLERR | POLLHUP)) != 0;
      ares_process_fd(channel_, can_read ? sockets[i] : ARES_SOCKET_BAD,
                      (poll_one.revents & POLLOUT) != 0 ? sockets[i] : ARES_SOCKET_BAD);
    }
    if (!any) ares_process_fd(channel_, ARES_SOCKET_BAD, ARES_SOCKET_BAD);  // its time-outs
  }

 private:
  ares_channel channel_ = nullptr;
  bool ready_ = false;
};

std::string_view trim(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r";
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

bool answer_without_asking(const std::string& name, std::string_view hosts, Question& question) {
  boost::system::error_code error;
  const ip::address literal = ip::make_address(name, error);
  if (!error) {
    question.found.push_back(literal);
    return question.done = true;
  }
  question.found = find_in_hosts(hosts, name);
  return question.done = !question.found.empty();
}

}  // namespace

Addresses find_in_hosts(std::string_view hosts, std::string_view name) {
  Addresses found;
  while (!hosts.empty()) {
    const std::size_t end = std::min(hosts.find('\n'), hosts.size());
    std::string_view line = hosts.substr(0, end);
    hosts.remove_prefix(std::min(end + 1, hosts.size()));
    line = trim(line.substr(0, std::min(line.find('#'), line.size())));
    std::size_t space = std::min(line.find_first_of(" \t"), line.size());
    boost::system::error_code error;
    const ip::address address = ip::make_address(line.substr(0, space), error);
    while (!error && space < line.size()) {
      line = trim(line.substr(space));
      space = std::min(line.find_first_of(" \t"), line.size());
      if (line.substr(0, space) == name && found.size() < kAddressesMax) found.push_back(address);
    }
  }
  return found;
}

Task<std::vector<Addresses>> resolve(Clock& clock, std::vector<std::string> names,
                                     std::string hosts, Monotonic deadline) {
  constexpr std::chrono::milliseconds kTurn{10};
  std::vector<Question> questions(names.size());
  std::optional<Lookup> lookup;  // costs files to read, so only if somebody is asked
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (answer_without_asking(names[i], hosts, questions[i])) continue;
    if (i >= kNamesAtOnceMax) continue;
    if (!lookup) lookup.emplace();
    lookup->ask(names[i], questions[i]);
  }
  const auto open = [&] {
    const auto asked = std::span(questions).first(std::min(questions.size(), kNamesAtOnceMax));
    return std::ranges::any_of(asked, [](const Question& question) { return !question.done; });
  };
  while (open() && clock.monotonic() < deadline) {
    lookup->turn();
    if (open() && !co_await clock.sleep_for(kTurn)) break;
  }
  std::vector<Addresses> answers;
  answers.reserve(questions.size());
  for (Question& question : questions) answers.push_back(std::move(question.found));
  co_return answers;
}

}  // namespace amdahl

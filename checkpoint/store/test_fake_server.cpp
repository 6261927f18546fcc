#include "checkpoint/store/test_fake_server.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>

#include "base/check.hpp"
#include "base/http_message.hpp"

namespace amdahl::checkpoint {
namespace {

constexpr int kSlowMilliseconds = 3000;
constexpr int kTrickleMilliseconds = 5;

bool receive(int fd, std::string& input) {
  char buffer[65'536];
  const ssize_t got = ::recv(fd, buffer, sizeof buffer, 0);
  if (got <= 0) return false;
  input.append(buffer, static_cast<std::size_t>(got));
  return true;
}

bool send_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t sent = ::send(fd, text.data(), text.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

void read_query(std::string_view query, FakeRequest& into) {
  while (!query.empty()) {
    const std::size_t end = std::min(query.find('&'), query.size());
    const std::string_view pair = query.substr(0, end);
    const std::size_t equals = std::min(pair.find('='), pair.size());
    into.query[std::string(pair.substr(0, equals))] =
        percent_decode(pair.substr(std::min(equals + 1, pair.size()))).value_or("?");
    query.remove_prefix(std::min(end + 1, query.size()));
  }
}

FakeRequest parse_head(std::string_view head) {
  FakeRequest request;
  const std::size_t line_end = head.find("\r\n");
  std::string_view line = head.substr(0, line_end);
  head.remove_prefix(line_end + 2);
  request.method = line.substr(0, line.find(' '));
  line.remove_prefix(request.method.size() + 1);
  request.target = line.substr(0, line.find(' '));
  const std::size_t mark = std::min(request.target.find('?'), request.target.size());
  request.path = request.target.substr(0, mark);
  if (mark < request.target.size())
    read_query(std::string_view(request.target).substr(mark + 1), request);
  while (!head.empty()) {
    const std::size_t end = head.find("\r\n");
    const std::string_view field = head.substr(0, end);
    const std::size_t colon = field.find(": ");
    std::string name(field.substr(0, colon));
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
    request.fields[name] = field.substr(colon + 2);
    head.remove_prefix(end + 2);
  }
  return request;
}

void wait_for_close(int fd) {
  pollfd poll_one{.fd = fd, .events = POLLIN, .revents = 0};
  ::poll(&poll_one, 1, kSlowMilliseconds);
}

// A byte at a time, as long as somebody reads.
bool trickle(int fd, std::string_view text) {
  pollfd poll_one{.fd = fd, .events = POLLRDHUP, .revents = 0};
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!send_all(fd, text.substr(i, 1))) return false;
    if (::poll(&poll_one, 1, kTrickleMilliseconds) > 0) return false;
  }
  return true;
}

// How much of a message passes before its connection breaks off.
std::size_t part_of(std::size_t whole, const FakeFault& fault, std::size_t otherwise) {
  return fault.bytes < 0 ? otherwise : std::min(whole, static_cast<std::size_t>(fault.bytes));
}

FakeReply status_reply(const FakeFault& fault) {
  FakeReply reply{.status = fault.status,
                  .body = "<Error><Code>Scripted</Code><Message>fault</Message></Error>"};
  if (!fault.retry_after.empty()) reply.fields.push_back({"retry-after", fault.retry_after});
  return reply;
}

bool happens(FakeFaultKind kind) {
  using enum FakeFaultKind;
  return kind != kDropRequest && kind != kStatus && kind != kSlow && kind != kError200;
}

}  // namespace

std::string FakeRequest::field(const std::string& name) const {
  const auto found = fields.find(name);
  return found == fields.end() ? std::string() : found->second;
}

std::string FakeRequest::parameter(const std::string& name) const {
  const auto found = query.find(name);
  return found == query.end() ? std::string() : found->second;
}

FakeServer::FakeServer(FakeHandler& handler) : handler_(handler) {
  listener_ = Fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  AMDAHL_CHECK(::bind(listener_.get(), generic, length) == 0);
  AMDAHL_CHECK(::listen(listener_.get(), 64) == 0);
  AMDAHL_CHECK(::getsockname(listener_.get(), generic, &length) == 0);
  port_ = ntohs(address.sin_port);
  acceptor_ = std::jthread([this] { accept_all(); });
}

FakeServer::~FakeServer() {
  stopping_ = true;
  ::shutdown(listener_.get(), SHUT_RDWR);
  acceptor_.join();
  {
    const std::scoped_lock lock(mutex_);
    for (const int fd : open_) ::shutdown(fd, SHUT_RDWR);
  }
  threads_.clear();
}

void FakeServer::set_fault(FakeFault fault) {
  const std::scoped_lock lock(mutex_);
  fault_ = fault;
  last_ = {.status = 404};
  requests_.clear();
}

std::vector<std::string> FakeServer::requests() const {
  const std::scoped_lock lock(mutex_);
  return requests_;
}

void FakeServer::accept_all() {
  while (!stopping_) {
    const int fd = ::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) return;
    const std::scoped_lock lock(mutex_);
    ++connections_;
    open_.push_back(fd);
    threads_.emplace_back([this, fd] { serve(fd); });
  }
}

void FakeServer::serve(int fd) {
  std::string input;
  while (!stopping_ && serve_one(fd, input)) {
  }
  const std::scoped_lock lock(mutex_);
  std::erase(open_, fd);
  ::close(fd);
}

FakeServer::Turn FakeServer::begin(const std::string& line) {
  const std::scoped_lock lock(mutex_);
  const int index = static_cast<int>(requests_.size());
  requests_.push_back(line);
  const bool due = index == fault_.at || (fault_.always && fault_.at >= 0 && index > fault_.at);
  return {.fault = due ? fault_ : FakeFault{}, .stale = last_};
}

bool FakeServer::serve_one(int fd, std::string& input) {
  std::size_t head_end = 0;
  while ((head_end = input.find("\r\n\r\n")) == std::string::npos)
    if (!receive(fd, input)) return false;
  FakeRequest request = parse_head(std::string_view(input).substr(0, head_end + 2));
  input.erase(0, head_end + 4);
  const Turn turn = begin(request.method + " " + request.target);
  const FakeFaultKind kind = turn.fault.kind;
  const std::string length = request.field("content-length");
  const std::size_t body_bytes = length.empty() ? 0 : std::stoull(length);
  const bool drop = kind == FakeFaultKind::kDropRequest;
  const std::size_t wanted =
      drop ? part_of(body_bytes, turn.fault, body_bytes * 2 / 3) : body_bytes;
  while (input.size() < wanted)
    if (!receive(fd, input)) return false;
  request.body = input.substr(0, wanted);
  input.erase(0, wanted);
  if (drop) handler_.keep_part(request);
  if (drop) return false;

  FakeReply answer = status_reply(turn.fault);
  if (happens(kind)) answer = handler_.handle(request);
  if (kind == FakeFaultKind::kError200) answer.status = 200;
  if (kind == FakeFaultKind::kStatusAfter) answer = status_reply(turn.fault);
  {
    const std::scoped_lock lock(mutex_);
    last_ = answer;
  }
  if (kind == FakeFaultKind::kStaleReply) answer = turn.stale;
  answer.no_body = request.method == "HEAD";
  if (kind == FakeFaultKind::kSlow || kind == FakeFaultKind::kSlowAfter) wait_for_close(fd);
  const bool silent = kind == FakeFaultKind::kLoseReply || kind == FakeFaultKind::kSlow ||
                      kind == FakeFaultKind::kSlowAfter;
  return !silent && reply(fd, answer, turn.fault);
}

bool FakeServer::reply(int fd, const FakeReply& reply, const FakeFault& fault) {
  const FakeFaultKind kind = fault.kind;
  std::string body = reply.body;
  if (kind == FakeFaultKind::kCorruptReply && !body.empty())
    body[body.size() / 2] = static_cast<char>(body[body.size() / 2] ^ 1);
  std::string text = fmt::format("HTTP/1.1 {} Scripted\r\n", reply.status);
  for (const HttpField& field : reply.fields)
    text += fmt::format("{}: {}\r\n", field.name, field.value);
  const bool has_length = std::ranges::any_of(
      reply.fields, [](const HttpField& field) { return field.name == "content-length"; });
  if (!has_length && reply.status != 204)
    text += fmt::format("content-length: {}\r\n", body.size());
  text += "\r\n";
  if (!reply.no_body && reply.status != 204) text += body;
  if (kind == FakeFaultKind::kTrickle) return trickle(fd, text);
  if (kind != FakeFaultKind::kCutReply) return send_all(fd, text);
  send_all(fd, std::string_view(text).substr(0, part_of(text.size(), fault, text.size() / 2)));
  return false;
}

}  // namespace amdahl::checkpoint

// A server on 127.0.0.1 that says exactly what a test tells it to, byte by byte.
//
//   asio::io_context io;
//   RealClock clock;
//   testkit::ScriptedServer server(io, clock);
//   server.play(Script().expect().send(http_ok("{}")).expect().reset());
//   auto result = run_until_complete(io, transport.send(...));    // base/task_group.hpp
//   CHECK(server.requests().at(0).target == "/api/v1/pods");
//
// The n-th connection plays the n-th script; when they are used up, the one of play_always(), or a
// reset. A script that ends closes its connection with a FIN. A peer that leaves ends its script.
// Half-open peers are emulated by silence(): no answer, no FIN, until the client gives up.
//
// Thread: the one of the io_context. Lifetime: the clock and the io_context outlive the server;
// destroying it closes every connection. Failure: none is reported; tests assert on what was seen.
#pragma once

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"

namespace amdahl::testkit {

struct ReceivedRequest {
  std::size_t connection = 0;  // 0 is the first connection accepted
  std::string method = {};
  std::string target = {};
  std::string head = {};  // all of it, with the blank line
  std::string body = {};
  std::string header(std::string_view name) const;  // "" when absent; case-insensitive
};

// What the TLS handshakes looked like from the server's side, in order.
struct SeenHandshake {
  bool ok = false;
  bool resumed = false;
  bool client_certificate = false;
  std::string server_name = {};  // SNI; empty: none was sent
};

struct TlsIdentity;  // a certificate and key; share one to let clients resume their sessions
// With client_ca_pem the client must present a certificate signed by it.
std::shared_ptr<TlsIdentity> make_tls_identity(std::string_view certificate_pem,
                                               std::string_view key_pem,
                                               std::string_view client_ca_pem = "");

// Makes it a server that nobody has updated: TLS 1.0 and 1.1 are all it speaks.
void limit_to_tls_1_1(TlsIdentity& identity);

// Lets a test decide when a script goes on.
class Gate {
 public:
  Gate();
  ~Gate();
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;
  void open();
  Task<void> wait();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

struct Step;

class Script {
 public:
  Script();
  ~Script();
  Script(const Script&);
  Script& operator=(const Script&);

  Script& expect();  // reads one request and records it
  Script& reply(std::function<std::string(const ReceivedRequest&)> answer);  // expect, then send
  Script& send(std::string bytes);
  Script& send_in_pieces(std::string bytes, std::size_t piece);  // one write for each piece
  Script& send_zeros(std::uint64_t count);       // '0' characters, until the peer leaves
  Script& delay(std::chrono::nanoseconds time);  // on the server's clock
  Script& wait_for(std::shared_ptr<Gate> gate);
  Script& call(std::function<void()> function);  // for example: close a fence just now
  // Also after a CONNECT was answered, and inside the TLS of an https proxy.
  Script& start_tls(std::shared_ptr<TlsIdentity> identity);
  Script& close();    // FIN
  Script& reset();    // RST
  Script& silence();  // says nothing more until the client leaves
  Script& forever();  // begins again, behind the last start_tls
  const std::vector<Step>& steps() const { return steps_; }

 private:
  std::vector<Step> steps_;
};

class ScriptedServer {
 public:
  ScriptedServer(boost::asio::io_context& io, Clock& clock);
  ~ScriptedServer();
  ScriptedServer(const ScriptedServer&) = delete;
  ScriptedServer& operator=(const ScriptedServer&) = delete;

  void play(Script script);         // for the next connection that has no script yet
  void play_always(Script script);  // for every connection after those
  void refuse();                    // stops listening: later connections are refused

  std::uint16_t port() const;
  std::string address() const;  // "127.0.0.1:4711"
  const std::vector<ReceivedRequest>& requests() const;
  const std::vector<SeenHandshake>& handshakes() const;
  std::size_t connections() const;  // accepted so far
  std::size_t open_connections() const;
  std::uint64_t bytes_sent() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

// "HTTP/1.1 200 OK" with Content-Length and Content-Type: application/json.
std::string http_ok(std::string_view body);
// Any status; `extra_headers` are whole lines, each ended by \r\n.
std::string http_response(int status, std::string_view body, std::string_view extra_headers = "");
// The head of a chunked 200 response, one chunk of it, and its end.
std::string chunked_head();
std::string chunk(std::string_view data);
inline constexpr std::string_view kLastChunk = "0\r\n\r\n";

}  // namespace amdahl::testkit

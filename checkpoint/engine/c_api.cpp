#include "checkpoint/engine/c_api.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <string>
#include <utility>

#include "checkpoint/engine/session.hpp"

struct amdahl_ckpt {  // NOLINT(readability-identifier-naming): a name of C
  std::unique_ptr<amdahl::checkpoint::Session> session;
};

namespace {

using amdahl::Errc;
using amdahl::Error;
using amdahl::Result;
using amdahl::checkpoint::Session;

thread_local Error last_error;

bool failed(Error error) {
  last_error = std::move(error);
  return true;
}

// Runs a call of a session. What is thrown in there is a lack of memory, or a bug that the other
// language hears of.
template <class T, class Call>
Result<T> guarded(const Call& call) {
  try {
    return call();
  } catch (const std::exception& thrown) {
    return amdahl::fail(Errc::kTooLarge, "checkpoints: {}", thrown.what());
  }
}

template <class Call>
int status_of(const Call& call) {
  auto done = guarded<void>(call);
  return !done && failed(std::move(done).error()) ? 1 : 0;
}

template <class Call>
char* text_of(const Call& call) {
  auto text = guarded<std::string>(call);
  if (!text) {
    failed(std::move(text).error());
    return nullptr;
  }
  char* copy = static_cast<char*>(std::malloc(text->size() + 1));
  if (copy != nullptr) std::memcpy(copy, text->c_str(), text->size() + 1);
  return copy;
}

std::string variable(std::string_view name) {
  // tidy: allow(ban-environment) this is where the library begins
  const char* value = std::getenv(std::string(name).c_str());
  return value == nullptr ? std::string() : std::string(value);
}

// Small files alone: what the kernel says of our limits.
std::string read_file(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

void complain(std::string_view text) {
  const std::string line = "amdahl: " + std::string(text) + "\n";
  std::fwrite(line.data(), 1, line.size(), stderr);
}

std::string_view or_empty(const char* text) {
  return text == nullptr ? std::string_view() : std::string_view(text);
}

}  // namespace

const char* amdahl_ckpt_error() {
  return last_error.context.c_str();
}

const char* amdahl_ckpt_error_code() {
  return amdahl::name(last_error.code).data();
}

void amdahl_ckpt_free(char* text) {
  std::free(text);
}

amdahl_ckpt* amdahl_ckpt_open(const char* options_json) {
  auto session = guarded<std::unique_ptr<Session>>([&] {
    return Session::open(options_json,
                         {.variable = variable, .read_file = read_file, .complain = complain});
  });
  if (session) return new amdahl_ckpt{*std::move(session)};
  failed(std::move(session).error());
  return nullptr;
}

void amdahl_ckpt_close(amdahl_ckpt* handle) {
  delete handle;
}

int amdahl_ckpt_describe(amdahl_ckpt* handle, const char* tensors_json) {
  return status_of([&] { return handle->session->describe(tensors_json); });
}

int amdahl_ckpt_save(amdahl_ckpt* handle, const amdahl_ckpt_save_request* request) {
  return status_of([&] {
    return handle->session->save(
        {.step = request->step,
         .state = or_empty(request->state),
         .metrics = or_empty(request->metrics),
         .patience = std::chrono::milliseconds(request->patience_ms)},
        {reinterpret_cast<const std::byte* const*>(request->tensors), request->count});
  });
}

int amdahl_ckpt_wait(amdahl_ckpt* handle, int64_t patience_ms) {
  return status_of([&] { return handle->session->wait(std::chrono::milliseconds(patience_ms)); });
}

int amdahl_ckpt_settle(amdahl_ckpt* handle, int64_t patience_ms) {
  return status_of([&] { return handle->session->settle(std::chrono::milliseconds(patience_ms)); });
}

char* amdahl_ckpt_status(amdahl_ckpt* handle) {
  return text_of([&]() -> Result<std::string> { return handle->session->status(); });
}

char* amdahl_ckpt_open_step(amdahl_ckpt* handle, int64_t step, int64_t before) {
  return text_of([&] { return handle->session->open_step(step, before); });
}

int amdahl_ckpt_load(amdahl_ckpt* handle, const char* wanted_json, void* const* tensors,
                     size_t count) {
  return status_of([&] {
    return handle->session->load(or_empty(wanted_json),
                                 {reinterpret_cast<std::byte* const*>(tensors), count});
  });
}

char* amdahl_ckpt_list(amdahl_ckpt* handle) {
  return text_of([&] { return handle->session->list(); });
}

char* amdahl_ckpt_verify(amdahl_ckpt* handle, int64_t step) {
  return text_of([&] { return handle->session->verify(step); });
}

char* amdahl_ckpt_collect(amdahl_ckpt* handle, int only_a_plan) {
  return text_of([&] { return handle->session->collect(only_a_plan != 0); });
}

int amdahl_ckpt_export(amdahl_ckpt* handle, int64_t step, const char* path) {
  return status_of([&] { return handle->session->export_step(step, path); });
}

int amdahl_ckpt_pin(amdahl_ckpt* handle, int64_t step, int pinned) {
  return status_of([&] { return handle->session->pin(step, pinned != 0); });
}

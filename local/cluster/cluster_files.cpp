#include "local/cluster/cluster_files.hpp"

#include <unistd.h>

#include <nlohmann/json.hpp>

#include "base/json_decode.hpp"
#include "base/json_encode.hpp"
#include "local/cluster/whole_file.hpp"
#include "operator/kube/environment.hpp"

namespace amdahl::local {
namespace {

constexpr std::string_view kSettings = "settings.json";
constexpr std::string_view kState = "state.json";
constexpr std::size_t kFileBytesMax = std::size_t{1} << 20;
constexpr std::size_t kSecretBytesMin = 32;
constexpr std::size_t kSecretBytesMax = 1024;

template <class T>
Result<T> read_json(const std::string& path) {
  TRY(const std::string text, kube::read_file(path, kFileBytesMax));
  auto value = decode<T>(text);
  if (!value)
    return wrap(std::move(value).error(), "{} is damaged; move it away and start again", path);
  return *std::move(value);
}

template <class T>
Result<void> write_json(const std::string& path, const T& value) {
  return write_whole_file(path, encode(value).dump(2) + "\n");
}

}  // namespace

Result<Settings> read_settings(const DataFolder& folder) {
  auto settings = read_json<Settings>(folder.file(kSettings));
  if (!settings && settings.error().code == Errc::kNotFound) return Settings{};
  return settings;
}

Result<void> write_settings(const DataFolder& folder, const Settings& settings) {
  return write_json(folder.file(kSettings), settings);
}

Result<ServerStatus> read_server_status(const DataFolder& folder) {
  return read_json<ServerStatus>(folder.file(kState));
}

Result<void> write_server_status(const DataFolder& folder, const ServerStatus& status) {
  return write_json(folder.file(kState), status);
}

void remove_server_status(const DataFolder& folder) {
  ::unlink(folder.file(kState).c_str());
}

Result<std::string> keep_secret(const DataFolder& folder, std::string_view name,
                                std::string (*make_text)()) {
  const std::string path = folder.file(name);
  auto text = kube::read_file(path, kSecretBytesMax);
  if (!text && text.error().code == Errc::kNotFound) {
    std::string fresh = make_text();
    TRY(write_whole_file(path, fresh));
    return fresh;
  }
  if (!text) return text;
  if (text->size() < kSecretBytesMin || text->find_first_of(" \r\n") != std::string::npos)
    return fail(Errc::kInvalid, "{} is damaged; move it away to have a new one made", path);
  return text;
}

std::string server_url(std::int32_t port) {
  return fmt::format("https://127.0.0.1:{}", port);
}

}  // namespace amdahl::local

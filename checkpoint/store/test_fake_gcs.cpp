#include "checkpoint/store/test_fake_gcs.hpp"

#include <nlohmann/json.hpp>

#include "base/http_message.hpp"
#include "checkpoint/store/bucket_path.hpp"

namespace amdahl::checkpoint {
namespace {

using nlohmann::json;

FakeReply error(int status, const std::string& message) {
  return {.status = status, .body = json{{"error", {{"message", message}}}}.dump()};
}

std::string sum_of(std::string_view content) {
  const std::vector<Bytes> pieces{bytes_of(content)};
  return crc32c_text(crc32c_of(pieces));
}

std::string metadata_crc(const json& metadata) {
  return metadata.value("crc32c", std::string());
}

}  // namespace

std::map<std::string, std::string> FakeGcs::objects() const {
  const std::scoped_lock lock(mutex_);
  std::map<std::string, std::string> all;
  for (const auto& [key, object] : objects_) all[key] = object.content;
  return all;
}

void FakeGcs::put(const std::string& key, std::string content) {
  const std::scoped_lock lock(mutex_);
  objects_[key] = {.content = std::move(content), .generation = next_generation_++};
}

void FakeGcs::set_token(std::string token) {
  const std::scoped_lock lock(mutex_);
  token_ = std::move(token);
}

void FakeGcs::refuse_token_once() {
  const std::scoped_lock lock(mutex_);
  token_ += "-next";
}

void FakeGcs::lose_sessions() {
  const std::scoped_lock lock(mutex_);
  sessions_.clear();
}

FakeReply FakeGcs::handle(const FakeRequest& request) {
  const std::scoped_lock lock(mutex_);
  if (request.path.starts_with("/computeMetadata/")) return on_token(request);
  if (!token_.empty() && request.field("authorization") != "Bearer " + token_)
    return error(401, "Invalid Credentials");
  if (token_.empty() && !request.field("authorization").empty())
    return error(400, "a token for an emulator");
  const std::string list = fmt::format("/storage/v1/b/{}/o", kBucket);
  if (request.path == "/upload" + list) {
    if (request.has("upload_id")) return on_session(request);
    if (request.parameter("ifGenerationMatch") != "0") return error(400, "no precondition");
    if (request.parameter("uploadType") == "multipart") return on_multipart(request);
    if (request.parameter("uploadType") == "resumable") return on_begin(request);
    return error(400, "uploadType");
  }
  if (request.path == list && request.method == "GET") return on_list(request);
  if (request.path.starts_with(list + "/"))
    return on_object(request, percent_decode(request.path.substr(list.size() + 1)).value());
  return error(404, "no such bucket");
}

FakeReply FakeGcs::on_token(const FakeRequest& request) {
  if (request.field("metadata-flavor") != "Google") return error(403, "no flavor");
  ++tokens_given_;
  FakeReply reply{
      .body =
          json{{"access_token", token_}, {"expires_in", 3599}, {"token_type", "Bearer"}}.dump()};
  if (metadata_flavor) reply.fields.push_back({"metadata-flavor", "Google"});
  return reply;
}

FakeReply FakeGcs::shown(const std::string& key) const {
  const Object& object = objects_.at(key);
  return {.body = json{{"size", fmt::format("{}", object.content.size())},
                       {"generation", fmt::format("{}", object.generation)},
                       {"crc32c", sum_of(object.content)}}
                      .dump()};
}

FakeReply FakeGcs::commit(const std::string& key, const std::string& crc32c, std::string content) {
  if (objects_.contains(key)) return error(412, "conditionNotMet");
  if (crc32c != sum_of(content)) return error(400, "crc32c does not match");
  objects_[key] = {.content = std::move(content), .generation = next_generation_++};
  return shown(key);
}

FakeReply FakeGcs::on_multipart(const FakeRequest& request) {
  const std::string type = request.field("content-type");
  const std::string mark = "boundary=";
  const std::string boundary = "--" + type.substr(type.find(mark) + mark.size());
  const std::string& body = request.body;
  const std::size_t json_at = body.find("\r\n\r\n") + 4;
  const std::size_t json_end = body.find("\r\n" + boundary, json_at);
  const std::size_t content_at = body.find("\r\n\r\n", json_end) + 4;
  const std::string tail = "\r\n" + boundary + "--\r\n";
  if (!body.starts_with(boundary + "\r\n") || !body.ends_with(tail)) return error(400, "multipart");
  const json metadata = json::parse(body.substr(json_at, json_end - json_at));
  return commit(metadata.at("name"), metadata_crc(metadata),
                body.substr(content_at, body.size() - tail.size() - content_at));
}

FakeReply FakeGcs::on_begin(const FakeRequest& request) {
  const json metadata = json::parse(request.body);
  if (request.field("x-upload-content-length").empty()) return error(400, "no length");
  if (objects_.contains(metadata.at("name"))) return error(412, "conditionNotMet");
  const std::string id = fmt::format("session-{}", next_session_++);
  sessions_[id] = {.key = metadata.at("name"), .crc32c = metadata_crc(metadata)};
  // The server calls itself something else than we do, as behind a proxy.
  return {.fields = {{"location", fmt::format("https://upload.example/upload/storage/v1/b/{}/o?"
                                              "uploadType=resumable&upload_id={}",
                                              kBucket, id)}}};
}

FakeReply FakeGcs::on_session(const FakeRequest& request) {
  const auto found = sessions_.find(request.parameter("upload_id"));
  if (found == sessions_.end()) return error(404, "no such session");
  Session& session = found->second;
  if (request.method == "DELETE") {
    sessions_.erase(found);
    return {.status = 499};
  }
  if (session.done) return shown(session.key);
  const std::string range = request.field("content-range");
  if (!range.starts_with("bytes */")) {
    const auto parsed = parse_content_range(range);
    if (!parsed || parsed->begin > static_cast<std::int64_t>(session.content.size()))
      return error(400, "range");
    session.content.resize(static_cast<std::size_t>(parsed->begin));
    session.content += request.body;
    if (parsed->end == parsed->bytes) {
      FakeReply reply = commit(session.key, session.crc32c, session.content);
      session.done = reply.status == 200;
      return reply;
    }
    session.content.resize(session.content.size() / kUnit * kUnit);
  }
  FakeReply reply{.status = 308};
  if (!session.content.empty())
    reply.fields.push_back({"range", fmt::format("bytes=0-{}", session.content.size() - 1)});
  return reply;
}

void FakeGcs::keep_part(const FakeRequest& request) {
  const std::scoped_lock lock(mutex_);
  const auto found = sessions_.find(request.parameter("upload_id"));
  const auto range = parse_content_range(request.field("content-range"));
  if (found == sessions_.end() || found->second.done || !range) return;
  std::string& content = found->second.content;
  if (range->begin != static_cast<std::int64_t>(content.size())) return;
  content += request.body;
  content.resize(content.size() / kUnit * kUnit);
}

FakeReply FakeGcs::on_object(const FakeRequest& request, const std::string& key) {
  const auto found = objects_.find(key);
  if (found == objects_.end()) return error(404, "No such object");
  if (request.method == "DELETE") {
    const std::string wanted = request.parameter("ifGenerationMatch");
    if (wanted != fmt::format("{}", found->second.generation)) return error(412, "generation");
    objects_.erase(found);
    return {.status = 204};
  }
  if (request.method != "GET") return error(405, "method");
  return request.parameter("alt") == "media" ? on_read(request, found->second) : shown(key);
}

FakeReply FakeGcs::on_read(const FakeRequest& request, const Object& object) {
  const std::string range = request.field("range");
  const std::size_t dash = range.find('-');
  const std::size_t begin = std::stoull(range.substr(6, dash - 6));
  const std::size_t end =
      std::min<std::size_t>(std::stoull(range.substr(dash + 1)) + 1, object.content.size());
  if (begin >= object.content.size()) return error(416, "range");
  return {.status = 206,
          .fields = {{"content-range",
                      fmt::format("bytes {}-{}/{}", begin, end - 1, object.content.size())},
                     {"x-goog-hash", "crc32c=" + sum_of(object.content) + ",md5=none"}},
          .body = object.content.substr(begin, end - begin)};
}

FakeReply FakeGcs::on_list(const FakeRequest& request) {
  const std::string prefix = request.parameter("prefix");
  std::map<std::string, std::size_t> all;
  for (const auto& [key, object] : objects_)
    if (key.starts_with(prefix)) all[key] = object.content.size();
  const FakeListPage listed = fake_list(all, request.parameter("pageToken"), page_max_, listing_);
  json page = json::object();
  for (const auto& entry : listed.entries)
    page["items"].push_back({{"name", entry.key}, {"size", fmt::format("{}", entry.bytes)}});
  if (!listed.next.empty()) page["nextPageToken"] = listed.next;
  objects_.erase(vanishing_);
  return {.body = page.dump()};
}

}  // namespace amdahl::checkpoint

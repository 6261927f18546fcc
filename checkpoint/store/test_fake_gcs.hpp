// The JSON API of Google Cloud Storage in memory, with the metadata server beside it.
//
// Knows what the store asks, refuses what it should not ask. Thread: any.
#pragma once

#include <map>
#include <mutex>
#include <string>

#include "checkpoint/store/test_fake_listing.hpp"
#include "checkpoint/store/test_fake_server.hpp"

namespace amdahl::checkpoint {

class FakeGcs final : public FakeHandler {
 public:
  static constexpr std::string_view kBucket = "test-bucket";
  static constexpr std::size_t kUnit = 1024;  // of what an interrupted upload keeps

  FakeReply handle(const FakeRequest& request) override;
  void keep_part(const FakeRequest& request) override;

  std::map<std::string, std::string> objects() const;     // by key
  void put(const std::string& key, std::string content);  // behind the store's back
  void set_page_max(std::size_t objects) { page_max_ = objects; }
  void set_listing(FakeListing listing) { listing_ = listing; }
  void set_vanishing(std::string key) { vanishing_ = std::move(key); }  // after a page of a list
  void set_token(std::string token);  // required; the metadata server gives it
  void refuse_token_once();           // that was given last
  void lose_sessions();
  int tokens_given() const { return tokens_given_; }
  bool metadata_flavor = true;  // of the metadata server's answers

 private:
  struct Object {
    std::string content = {};
    std::int64_t generation = 0;
  };
  struct Session {
    std::string key = {};
    std::string crc32c = {};
    std::string content = {};
    bool done = false;
  };
  FakeReply on_object(const FakeRequest& request, const std::string& key);
  FakeReply on_read(const FakeRequest& request, const Object& object);
  FakeReply on_list(const FakeRequest& request);
  FakeReply on_multipart(const FakeRequest& request);
  FakeReply on_begin(const FakeRequest& request);
  FakeReply on_session(const FakeRequest& request);
  FakeReply commit(const std::string& key, const std::string& crc32c, std::string content);
  FakeReply shown(const std::string& key) const;
  FakeReply on_token(const FakeRequest& request);

  mutable std::mutex mutex_;
  std::map<std::string, Object> objects_;
  std::map<std::string, Session> sessions_;
  std::int64_t next_generation_ = 1;
  int next_session_ = 1;
  std::size_t page_max_ = 1000;
  FakeListing listing_ = FakeListing::kSorted;
  std::string vanishing_;
  std::string token_;
  std::atomic<int> tokens_given_ = 0;
};

}  // namespace amdahl::checkpoint

// S3 in memory: conditional puts, uploads in parts, sums, signatures.
//
// Refuses a request whose signature does not fit what came over the wire. Thread: any.
#pragma once

#include <map>
#include <mutex>
#include <string>

#include "checkpoint/store/sigv4.hpp"
#include "checkpoint/store/test_fake_listing.hpp"
#include "checkpoint/store/test_fake_server.hpp"

namespace amdahl::checkpoint {

class FakeS3 final : public FakeHandler {
 public:
  static constexpr std::string_view kBucket = "test-bucket";
  static constexpr std::string_view kAccessKey = "AKIDEXAMPLE";
  static constexpr std::string_view kSecretKey = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";
  static constexpr std::string_view kSessionToken = "a-session-token-that-is-secret";

  FakeReply handle(const FakeRequest& request) override;

  std::map<std::string, std::string> objects() const;     // by key
  void put(const std::string& key, std::string content);  // behind the store's back
  std::size_t open_uploads() const;
  void begin_upload(const std::string& key);  // somebody else's
  void set_page_max(std::size_t objects) { page_max_ = objects; }
  void set_listing(FakeListing listing) { listing_ = listing; }
  void set_vanishing(std::string key) { vanishing_ = std::move(key); }  // after a page of a list
  void set_now(WallTime now) { now_ = now; }                            // when uploads begin
  bool sums = true;  // false: a store that keeps none

 private:
  struct Object {
    std::string content = {};
    std::string crc32c = {};
  };
  struct Upload {
    std::string key = {};
    std::map<int, std::string> parts = {};
    WallTime began = {};
  };
  bool is_signed(const FakeRequest& request) const;
  FakeReply on_put(const FakeRequest& request, const std::string& key);
  FakeReply on_part(const FakeRequest& request);
  FakeReply on_begin(const std::string& key);
  FakeReply on_complete(const FakeRequest& request, const std::string& key);
  FakeReply on_delete(const FakeRequest& request, const std::string& key);
  FakeReply on_read(const FakeRequest& request, const std::string& key);
  FakeReply on_list(const FakeRequest& request);
  FakeReply on_list_uploads(const FakeRequest& request);
  FakeReply on_bucket(const FakeRequest& request);

  mutable std::mutex mutex_;
  std::map<std::string, Object> objects_;
  std::map<std::string, Upload> uploads_;
  int next_upload_ = 1;
  std::size_t page_max_ = 1000;
  FakeListing listing_ = FakeListing::kSorted;
  std::string vanishing_;
  WallTime now_ = WallTime{std::chrono::seconds{1'700'000'000}};
};

}  // namespace amdahl::checkpoint

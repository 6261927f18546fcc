// Where the objects of one checkpoint prefix lie: a directory, or a bucket of GCS or S3.
//
// Objects are immutable: one is created whole, durable when create() returns, and only if absent.
// That is all that the commit protocol asks of a store (docs/reference/checkpoint-format.md).
// Calls block, because disks do and uploads run on threads of their own. An object to create lies
// in memory that stays as it is during the call, so that any part of it can be sent again.
//
// Names are relative to the prefix. Thread: any, many at once. Lifetime: outlives its calls.
// Failure: kTimeout at the deadline, kCancelled after a stop, kIo, kUnauthorized, kForbidden,
// kUnavailable; the text names the object and the store. What can be retried was.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "checkpoint/format/digest.hpp"

namespace amdahl::checkpoint {

inline constexpr std::size_t kListPageMax = 1000;  // objects of one page
inline constexpr std::size_t kPiecesMax = 64;      // of one object to create

// Until when a call may take, and who may stop it before.
struct StoreCall {
  Monotonic deadline = Monotonic::max();
  std::stop_token stop = {};
};

struct StoredObject {
  std::string name = {};
  std::int64_t bytes = 0;
  bool operator==(const StoredObject&) const = default;
};
struct ListPage {
  std::vector<StoredObject> objects = {};
  std::string next = {};  // to go on with; empty: that was the last page
  // One name of ours below the prefix that is not listed because its entry has the wrong type, such
  // as a symbolic link. Empty: there is none; a bucket never has one.
  std::string odd = {};
};

struct StoreRange {
  std::int64_t begin = 0;
  std::int64_t bytes = 0;
};
// Memory that a reader keeps from one call to the next, so that its pages are touched once.
using Scratch = std::vector<std::byte>;
using TakePiece = std::function<void(Bytes piece)>;

class Store {
 public:
  virtual ~Store() = default;

  // The pieces, one after another, are the object. kAlreadyExists: an object of that name is there
  // and is another one. If the answer to an own request was lost, the store reads back what is
  // there, and the same bytes are a success.
  virtual Result<void> create(std::string_view name, std::span<const Bytes> pieces,
                              const StoreCall& call) = 0;
  virtual Result<std::int64_t> size(std::string_view name, const StoreCall& call) = 0;  // kNotFound
  // Fills `into` from `begin`; an object that ends before is kCorrupt. kNotFound.
  virtual Result<void> read(std::string_view name, std::int64_t begin, std::span<std::byte> into,
                            const StoreCall& call) = 0;
  // The same bytes in pieces, in their order; each lies in `scratch` until the next. A store for
  // which every piece would be a request gives all of them as one.
  virtual Result<void> read_through(std::string_view name, StoreRange range, Scratch& scratch,
                                    const TakePiece& take, const StoreCall& call);
  // Objects whose names begin with `prefix`, foreign ones too, in any order. `next` is that of the
  // page before, or empty.
  virtual Result<ListPage> list(std::string_view prefix, std::string_view next,
                                const StoreCall& call) = 0;
  // An absent object is a success.
  virtual Result<void> remove(std::string_view name, const StoreCall& call) = 0;
  // Removes what creations that never ended have left where list() does not see it: temporary
  // files, uploads of parts. Only what began before `before`. Gives how many there were.
  virtual Result<std::int64_t> remove_leftovers(WallTime before, const StoreCall& call) = 0;

  virtual std::string describe() const = 0;  // "gs://bucket/path", without secrets
};

Result<std::string> read_whole(Store& store, std::string_view name, std::size_t bytes_max,
                               const StoreCall& call);
inline constexpr std::size_t kListedMax = 1'000'000;
inline constexpr std::size_t kListPagesMax = 20'000;  // a server may give small and empty ones
// Sorted by name, each object once, whatever order the pages have. kCorrupt: the pages contradict
// one another or lead back; then nothing is known of what is there.
Result<std::vector<StoredObject>> list_all(Store& store, std::string_view prefix,
                                           const StoreCall& call);
// The same for callers that draw conclusions from a name that is missing. kInvalid: the listing
// leaves out a name of ours (ListPage::odd).
Result<std::vector<StoredObject>> list_complete(Store& store, std::string_view prefix,
                                                const StoreCall& call);

}  // namespace amdahl::checkpoint

// Values of CEL: what an expression takes and gives.
//
// Plain values. A JsonView points into the object under test and into its schema; both outlive the
// evaluation. Any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.hpp"
#include "local/apiserver/schema/schema.hpp"

namespace amdahl::local::cel {

struct Value;
struct Bytes {
  std::string data = {};
  bool operator==(const Bytes&) const = default;
};
// A Kubernetes quantity, exact to a billionth.
struct Quantity {
  __int128 nanos = 0;
  bool operator==(const Quantity&) const = default;
};
struct TypeName {
  std::string_view name = {};  // static storage
  bool operator==(const TypeName&) const = default;
};
struct Null {
  bool operator==(const Null&) const = default;
};
// An object or a list of the resource.
struct JsonView {
  const Json* json = nullptr;
  const Schema* schema = nullptr;
  bool resource =
      false;  // apiVersion, kind and metadata's names are known whatever the schema says
};
using List = std::vector<Value>;
using Map = std::vector<std::pair<Value, Value>>;
using ListPtr = std::shared_ptr<const List>;
using MapPtr = std::shared_ptr<const Map>;
struct Optional {
  std::shared_ptr<const Value> value = {};  // null: none
};

struct Value {
  std::variant<Null, bool, std::int64_t, std::uint64_t, double, std::string, Bytes, ListPtr, MapPtr,
               JsonView, Instant, std::chrono::nanoseconds, Quantity, TypeName, Optional>
      data = Null{};

  template <class T>
  const T* as() const {
    return std::get_if<T>(&data);
  }
  bool is_list() const;
  bool is_map() const;
};

// Counts what an evaluation does, so that it ends. One per evaluation.
class Steps {
 public:
  explicit Steps(std::int64_t max) : left_(max) {}
  // False once the bound is passed.
  bool take(std::size_t count = 1) {
    left_ -= static_cast<std::int64_t>(count);
    return left_ >= 0;
  }
  std::int64_t left() const { return left_; }

 private:
  std::int64_t left_;
};

std::string_view type_name(const Value& value);  // "int", "list", ...

// The value at a place of the resource: the schema decides what a JSON text or number becomes.
Result<Value> value_of(const Json& json, const Schema* schema, bool resource = false);

std::size_t list_size(const Value& list);
Result<Value> list_item(const Value& list, std::size_t index);
std::size_t map_size(const Value& map);
// The value under a key; nothing when absent. Fields of objects are named as CEL escapes them.
Result<std::optional<Value>> map_find(const Value& map, const Value& key);
Result<List> map_keys(const Value& map);
// The name of a field as rules write it: escaped in objects, as it is in maps.
std::string field_name(const JsonView& view, const std::string& key);

Result<bool> equal(const Value& a, const Value& b, Steps& steps);
// Negative, zero or positive; an error for values that have no order.
Result<int> compare(const Value& a, const Value& b);

Result<Quantity> parse_quantity(std::string_view text);

std::unexpected<Error> no_overload();
std::unexpected<Error> too_costly();

// "a.b" <-> "a__dot__b": how names that are no identifiers are written in rules.
std::optional<std::string> escaped(std::string_view name);
std::optional<std::string> unescaped(std::string_view name);
bool is_reserved(std::string_view word);

}  // namespace amdahl::local::cel

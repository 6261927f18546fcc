#include <array>

#include "local/apiserver/schema/cel/functions.hpp"
#include "local/apiserver/schema/cel/operators.hpp"

namespace amdahl::local::cel {
namespace {

Result<Value> is_sorted(const Call& call) {
  if (!call.args[0].is_list()) return no_overload();
  for (std::size_t i = 1; i < list_size(call.args[0]); ++i) {
    if (!call.steps.take()) return too_costly();
    TRY(const Value before, list_item(call.args[0], i - 1));
    TRY(const Value now, list_item(call.args[0], i));
    TRY(const int order, compare(before, now));
    if (order > 0) return Value{false};
  }
  return Value{true};
}

Result<Value> extreme(const Call& call, int wanted, std::string_view name) {
  if (!call.args[0].is_list()) return no_overload();
  if (list_size(call.args[0]) == 0) {
    return fail(Errc::kInvalid, "{} called on empty list", name);
  }
  TRY(Value best, list_item(call.args[0], 0));
  for (std::size_t i = 1; i < list_size(call.args[0]); ++i) {
    if (!call.steps.take()) return too_costly();
    TRY(Value item, list_item(call.args[0], i));
    TRY(const int order, compare(item, best));
    if (order * wanted > 0) best = std::move(item);
  }
  return best;
}
Result<Value> smallest(const Call& call) {
  return extreme(call, -1, "min");
}
Result<Value> largest(const Call& call) {
  return extreme(call, 1, "max");
}

Result<Value> sum(const Call& call) {
  if (!call.args[0].is_list()) return no_overload();
  Value total{std::int64_t{0}};
  for (std::size_t i = 0; i < list_size(call.args[0]); ++i) {
    if (!call.steps.take()) return too_costly();
    TRY(Value item, list_item(call.args[0], i));
    if (i == 0) {
      total = std::move(item);
    } else {
      TRY(total, arithmetic(Op::kAdd, total, item, call.steps));
    }
  }
  return total;
}

constexpr std::array<Function, 4> kLists{{
    {"isSorted", true, 0, 0, Kind::kBool, Kind::kList, is_sorted},
    {"min", true, 0, 0, Kind::kDynamic, Kind::kList, smallest},
    {"max", true, 0, 0, Kind::kDynamic, Kind::kList, largest},
    {"sum", true, 0, 0, Kind::kDynamic, Kind::kList, sum},
}};

}  // namespace

std::span<const Function> list_functions() {
  return kLists;
}

}  // namespace amdahl::local::cel

#include "local/apiserver/schema/cel/operators.hpp"

#include <cmath>
#include <limits>

#include "local/apiserver/schema/field_error.hpp"

namespace amdahl::local::cel {
namespace {

using std::chrono::nanoseconds;
constexpr std::size_t kTextBytesMax = 4U << 20U;
constexpr std::size_t kListItemsMax = 100'000;

template <class Number>
std::unexpected<Error> overflow() {
  return fail(Errc::kInvalid,
              std::is_signed_v<Number> ? "integer overflow" : "unsigned integer overflow");
}

template <class Number>
Result<Value> integers(Op op, Number a, Number b) {
  Number out{};
  switch (op) {
    case Op::kAdd:
      if (__builtin_add_overflow(a, b, &out)) return overflow<Number>();
      return Value{out};
    case Op::kSubtract:
      if (__builtin_sub_overflow(a, b, &out)) return overflow<Number>();
      return Value{out};
    case Op::kMultiply:
      if (__builtin_mul_overflow(a, b, &out)) return overflow<Number>();
      return Value{out};
    case Op::kDivide:
    case Op::kModulo:
      break;
    default:
      return no_overload();
  }
  if (b == 0)
    return fail(Errc::kInvalid, "{}", op == Op::kDivide ? "division by zero" : "modulus by zero");
  if constexpr (std::is_signed_v<Number>) {
    if (a == std::numeric_limits<Number>::min() && b == -1) return overflow<Number>();
  }
  return Value{op == Op::kDivide ? a / b : a % b};
}

Result<Value> doubles(Op op, double a, double b) {
  switch (op) {
    case Op::kAdd:
      return Value{a + b};
    case Op::kSubtract:
      return Value{a - b};
    case Op::kMultiply:
      return Value{a * b};
    case Op::kDivide: {
      // IEEE 754 defines this; the language calls it undefined.
      if (b != 0) return Value{a / b};
      if (a == 0 || std::isnan(a)) return Value{std::numeric_limits<double>::quiet_NaN()};
      return Value{std::signbit(a) == std::signbit(b) ? HUGE_VAL : -HUGE_VAL};
    }
    default:
      return no_overload();
  }
}

Result<Value> shifted(const Instant& time, nanoseconds by, bool back) {
  std::int64_t seconds = by.count() / 1'000'000'000;
  std::int64_t nanos = by.count() % 1'000'000'000;
  if (back) {
    seconds = -seconds;
    nanos = -nanos;
  }
  Instant moved{.seconds = time.seconds + seconds};
  nanos += time.nanos;
  if (nanos < 0) {
    nanos += 1'000'000'000;
    --moved.seconds;
  } else if (nanos >= 1'000'000'000) {
    nanos -= 1'000'000'000;
    ++moved.seconds;
  }
  moved.nanos = static_cast<std::int32_t>(nanos);
  constexpr std::int64_t kFirst = -62'135'596'800;  // 0001-01-01
  constexpr std::int64_t kLast = 253'402'300'799;   // 9999-12-31
  if (moved.seconds < kFirst || moved.seconds > kLast) {
    return fail(Errc::kInvalid, "timestamp overflow");
  }
  return Value{moved};
}

Result<Value> time_between(const Instant& a, const Instant& b) {
  std::int64_t nanos = 0;
  if (__builtin_mul_overflow(a.seconds - b.seconds, std::int64_t{1'000'000'000}, &nanos) ||
      __builtin_add_overflow(nanos, std::int64_t{a.nanos} - b.nanos, &nanos)) {
    return fail(Errc::kInvalid, "duration overflow");
  }
  return Value{nanoseconds{nanos}};
}

Result<Value> times(Op op, const Value& a, const Value& b) {
  if (op != Op::kAdd && op != Op::kSubtract) return no_overload();
  const bool minus = op == Op::kSubtract;
  const auto* time = a.as<Instant>();
  const auto* span = a.as<nanoseconds>();
  const auto* other_time = b.as<Instant>();
  const auto* other_span = b.as<nanoseconds>();
  if (time != nullptr && other_span != nullptr) return shifted(*time, *other_span, minus);
  if (span != nullptr && other_time != nullptr && !minus) return shifted(*other_time, *span, false);
  if (time != nullptr && other_time != nullptr && minus) return time_between(*time, *other_time);
  if (span == nullptr || other_span == nullptr) return no_overload();
  std::int64_t out = 0;
  const bool over = minus ? __builtin_sub_overflow(span->count(), other_span->count(), &out)
                          : __builtin_add_overflow(span->count(), other_span->count(), &out);
  if (over) return fail(Errc::kInvalid, "duration overflow");
  return Value{nanoseconds{out}};
}

Result<Value> joined(const Value& a, const Value& b, Steps& steps) {
  const auto* text = a.as<std::string>();
  const auto* more = b.as<std::string>();
  if (text != nullptr && more != nullptr) {
    const std::size_t size = text->size() + more->size();
    if (!steps.take(1 + size / 10) || size > kTextBytesMax) return too_costly();
    return Value{*text + *more};
  }
  if (!a.is_list() || !b.is_list()) return no_overload();
  const std::size_t size = list_size(a) + list_size(b);
  if (!steps.take(size) || size > kListItemsMax) return too_costly();
  List all;
  for (const Value* list : {&a, &b}) {
    for (std::size_t i = 0; i < list_size(*list); ++i) {
      TRY(Value item, list_item(*list, i));
      all.push_back(std::move(item));
    }
  }
  return Value{std::make_shared<const List>(std::move(all))};
}

}  // namespace

Result<Value> arithmetic(Op op, const Value& a, const Value& b, Steps& steps) {
  if (const auto *x = a.as<std::int64_t>(), *y = b.as<std::int64_t>();
      x != nullptr && y != nullptr) {
    return integers(op, *x, *y);
  }
  if (const auto *x = a.as<std::uint64_t>(), *y = b.as<std::uint64_t>();
      x != nullptr && y != nullptr) {
    return integers(op, *x, *y);
  }
  if (const auto *x = a.as<double>(), *y = b.as<double>(); x != nullptr && y != nullptr) {
    return doubles(op, *x, *y);
  }
  const bool timely = a.as<Instant>() != nullptr || a.as<nanoseconds>() != nullptr;
  if (timely) return times(op, a, b);
  return op == Op::kAdd ? joined(a, b, steps) : no_overload();
}

Result<Value> negated(const Value& value) {
  if (const auto* number = value.as<double>()) return Value{-*number};
  const auto* number = value.as<std::int64_t>();
  if (number == nullptr) return no_overload();
  if (*number == std::numeric_limits<std::int64_t>::min()) return overflow<std::int64_t>();
  return Value{-*number};
}

Result<Value> contained(const Value& needle, const Value& container, Steps& steps) {
  if (container.is_map()) {
    TRY(const auto found, map_find(container, needle));
    return Value{found.has_value()};
  }
  if (!container.is_list()) return no_overload();
  for (std::size_t i = 0; i < list_size(container); ++i) {
    TRY(const Value item, list_item(container, i));
    TRY(const bool same, equal(item, needle, steps));
    if (same) return Value{true};
  }
  return Value{false};
}

Result<Value> indexed(const Value& container, const Value& index) {
  if (container.is_map()) {
    TRY(auto found, map_find(container, index));
    if (found) return std::move(*found);
    const auto* name = index.as<std::string>();
    return fail(Errc::kInvalid, "no such key: {}", name == nullptr ? type_name(index) : *name);
  }
  if (!container.is_list()) return no_overload();
  const auto* at = index.as<std::int64_t>();
  if (at == nullptr)
    return fail(Errc::kInvalid, "unsupported index type '{}' in list", type_name(index));
  if (*at < 0 || static_cast<std::size_t>(*at) >= list_size(container)) {
    return fail(Errc::kInvalid, "index out of bounds: {}", *at);
  }
  return list_item(container, static_cast<std::size_t>(*at));
}

}  // namespace amdahl::local::cel

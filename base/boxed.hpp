// Boxed<T>: an optional value that costs one pointer while it is absent.
//
// For parts of cached objects that are large and rare. Copies deeply, compares by content.
// Thread: like the T in it. Failure: none; dereferencing an empty box is a bug and stops the
// process.
#pragma once

#include <memory>
#include <utility>

#include "base/check.hpp"

namespace amdahl {

template <class T>
class Boxed {
 public:
  using value_type = T;

  Boxed() noexcept = default;
  // NOLINTNEXTLINE(google-explicit-constructor): as for std::optional.
  Boxed(T value) : value_(std::make_unique<T>(std::move(value))) {}
  Boxed(const Boxed& other) : value_(other ? std::make_unique<T>(*other) : nullptr) {}
  Boxed(Boxed&&) noexcept = default;
  Boxed& operator=(const Boxed& other) {
    if (this != &other) value_ = other ? std::make_unique<T>(*other) : nullptr;
    return *this;
  }
  Boxed& operator=(Boxed&&) noexcept = default;
  ~Boxed() = default;

  T& emplace() {
    value_ = std::make_unique<T>();
    return *value_;
  }
  void reset() { value_.reset(); }
  bool has_value() const { return value_ != nullptr; }
  explicit operator bool() const { return has_value(); }
  const T& operator*() const { return checked(); }
  T& operator*() { return checked(); }
  const T* operator->() const { return &checked(); }
  T* operator->() { return &checked(); }

  bool operator==(const Boxed& other) const {
    if (!value_ || !other.value_) return !value_ && !other.value_;
    return *value_ == *other.value_;
  }

 private:
  T& checked() const {
    AMDAHL_CHECK(value_ != nullptr);
    return *value_;
  }
  std::unique_ptr<T> value_;
};

}  // namespace amdahl

// Field selectors: "metadata.name=x,status.phase!=Running".
//
// A value. Failure: parse() gives the text Kubernetes gives.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "local/apiserver/core/status.hpp"
#include "local/apiserver/core/stored_object.hpp"

namespace amdahl::local {

inline constexpr std::size_t kFieldTermsMax = 64;

struct FieldTerm {
  std::string field = {};
  std::string value = {};
  bool equal = true;
};

class FieldSelector {
 public:
  static Outcome<FieldSelector> parse(std::string_view text);
  void require(std::string field, std::string value);

  bool matches(const StoredObject& object) const;
  bool empty() const { return terms_.empty(); }
  const std::vector<FieldTerm>& terms() const { return terms_; }
  std::optional<std::string> exact(std::string_view field) const;

 private:
  std::vector<FieldTerm> terms_;
};

}  // namespace amdahl::local

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "local/apiserver/schema/correlate.hpp"
#include "local/apiserver/schema/field_error.hpp"
#include "local/apiserver/schema/validate.hpp"
#include "local/apiserver/schema/value_checks.hpp"

namespace amdahl::local {
namespace {

// Causes, and how many checks passed: the branch of an anyOf with most of them explains the
// failure.
struct Outcome {
  std::vector<Cause> causes = {};
  int matches = 0;

  bool ok() const { return causes.empty(); }
  void add(Cause cause) {
    if (causes.size() < kCausesMax) causes.push_back(std::move(cause));
  }
  void merge(Outcome other) {
    for (Cause& cause : other.causes) add(std::move(cause));
    matches += other.matches;
  }
  // Branches of a junctor may say the same thing twice.
  void merge_new(const Outcome& other) {
    for (const Cause& cause : other.causes) {
      if (std::ranges::find(causes, cause) == causes.end()) add(cause);
    }
    matches += other.matches;
  }
};

// One value, what its schema says, and the structural schema of the place: inside a junctor they
// differ, and only the structural one knows how old values are found.
struct Spot {
  const Schema& schema;
  const Schema* spine = nullptr;
  const Json& now;
  const Json* before = nullptr;
};

class ValueValidator {
 public:
  explicit ValueValidator(std::string path) : path_(std::move(path)), base_(path_.size()) {}

  // What did not change is forgiven.
  Outcome ratcheted(const Spot& spot) {
    Outcome outcome = value(spot);
    const bool same = !outcome.ok() && spot.before != nullptr && spot.spine != nullptr &&
                      unchanged(*spot.spine, spot.now, *spot.before);
    if (same) outcome.causes.clear();
    return outcome;
  }

 private:
  // Messages name the place from the object's own root, fields from where the caller stands.
  std::string_view shown_path() const {
    std::string_view rest = std::string_view(path_).substr(base_);
    if (rest.starts_with('.')) rest.remove_prefix(1);
    return rest;
  }
  ValuePlace place() const { return {.field = path_, .shown = shown_path()}; }

  Outcome value(const Spot& spot) {
    Outcome outcome;
    if (spot.now.is_null()) {
      outcome.matches += type(spot, outcome);
      one_of_values(spot, outcome);
      return outcome;
    }
    if (checks_type(spot.schema)) outcome.matches += type(spot, outcome) + 1;
    outcome.merge_new(junctors(spot));
    outcome.matches += 2;
    if (spot.now.is_string()) text(spot, outcome);
    if (spot.now.is_number()) {
      check_number(spot.schema.checks, spot.now, place(), outcome.causes);
      outcome.matches += 2;
    }
    if (spot.now.is_array()) list(spot, outcome);
    one_of_values(spot, outcome);
    ++outcome.matches;
    if (spot.now.is_object()) object(spot, outcome);
    ++outcome.matches;
    return outcome;
  }

  int type(const Spot& spot, Outcome& outcome) {
    auto cause = check_type(spot.schema, spot.now, place());
    if (!cause) return 1;
    outcome.add(std::move(*cause));
    return 0;
  }

  void text(const Spot& spot, Outcome& outcome) {
    const ValueChecks& checks = spot.schema.checks;
    if (auto cause = check_text(checks, spot.now, place())) outcome.add(std::move(*cause));
    ++outcome.matches;
    if (checks.format == Format::kNone) return;
    if (auto cause = check_format(checks, spot.now, place())) outcome.add(std::move(*cause));
    ++outcome.matches;
  }

  void one_of_values(const Spot& spot, Outcome& outcome) {
    const ValueChecks& checks = spot.schema.checks;
    if (checks.one_value_of.empty()) return;
    if (!spot.now.is_null() && std::ranges::binary_search(checks.one_value_of_sorted, spot.now)) {
      return;
    }
    std::vector<std::string> names;
    names.reserve(checks.one_value_of.size());
    for (const Json& item : checks.one_value_of) {
      names.push_back(item.is_string() ? item.get<std::string>() : go_json(item));
    }
    outcome.add(not_supported_cause(path_, spot.now, names));
  }

  void list(const Spot& spot, Outcome& outcome) {
    const ValueChecks& checks = spot.schema.checks;
    if (spot.schema.items != nullptr) items(spot, outcome);
    const auto size = static_cast<std::int64_t>(spot.now.size());
    if (checks.min_items && size < *checks.min_items) {
      outcome.add(invalid_cause(path_, size,
                                fmt::format("{} in body should have at least {} items",
                                            shown_path(), *checks.min_items)));
    }
    if (checks.max_items && size > *checks.max_items) {
      outcome.add(too_many_cause(path_, spot.now.size(), *checks.max_items));
    }
    if (checks.unique_items &&
        std::set<Json>(spot.now.begin(), spot.now.end()).size() < spot.now.size()) {
      outcome.add(invalid_cause(
          path_, "", fmt::format("{} in body shouldn't contain duplicates", shown_path())));
    }
    outcome.matches += 2;
  }

  void items(const Spot& spot, Outcome& outcome) {
    const Schema* spine = spot.spine == nullptr ? nullptr : spot.spine->items.get();
    const bool keyed = spine != nullptr && spot.before != nullptr;
    const ListMapIndex old(keyed ? *spot.spine : spot.schema, keyed ? spot.before : nullptr);
    for (std::size_t i = 0; i < spot.now.size(); ++i) {
      const std::size_t length = path_.size();
      fmt::format_to(std::back_inserter(path_), "[{}]", i);
      outcome.merge(ratcheted(Spot{*spot.schema.items, spine, spot.now[i], old.find(spot.now[i])}));
      path_.resize(length);
      if (outcome.causes.size() >= kCausesMax) return;
    }
  }

  void object(const Spot& spot, Outcome& outcome) {
    const ValueChecks& checks = spot.schema.checks;
    const auto size = static_cast<std::int64_t>(spot.now.size());
    if (checks.min_properties && size < *checks.min_properties) {
      outcome.add(invalid_cause(path_, size,
                                fmt::format("{} in body should have at least {} properties",
                                            shown_path(), *checks.min_properties)));
    }
    if (checks.max_properties && size > *checks.max_properties) {
      outcome.add(too_many_cause(path_, spot.now.size(), *checks.max_properties));
    }
    for (const auto& [key, item] : spot.now.items()) field(spot, key, item, outcome);
    for (const std::string& key : checks.required) {
      if (spot.now.contains(key)) continue;
      const std::size_t length = enter(key);
      outcome.add(required_cause(path_, {}));
      path_.resize(length);
    }
  }

  void field(const Spot& spot, const std::string& key, const Json& item, Outcome& outcome) {
    const auto known = spot.schema.properties.find(key);
    const bool declared = known != spot.schema.properties.end();
    if (!declared && spot.schema.other_keys == OtherKeys::kForbidden) {
      outcome.add(invalid_cause(
          path_, key, fmt::format("{}.{} in body is a forbidden property", shown_path(), key)));
      return;
    }
    const Schema* child = declared ? known->second.get() : spot.schema.other.get();
    if (child == nullptr) return;
    const Schema* spine = spot.spine == nullptr ? nullptr : spot.spine->child(key);
    const std::size_t length = enter(key);
    // Both objects were converted to one version, so these two say nothing about a change.
    const bool hidden = length == 0 && (key == "apiVersion" || key == "kind");
    outcome.merge(ratcheted(Spot{*child, spine, item, hidden ? nullptr : old_field(spot, key)}));
    path_.resize(length);
  }

  static const Json* old_field(const Spot& spot, const std::string& key) {
    if (spot.before == nullptr || !spot.before->is_object()) return nullptr;
    const auto found = spot.before->find(key);
    return found == spot.before->end() ? nullptr : &*found;
  }

  std::size_t enter(std::string_view key) {
    const std::size_t length = path_.size();
    if (length > 0) path_.push_back('.');
    path_.append(key);
    return length;
  }

  Outcome junctors(const Spot& spot);
  Outcome any_of(const Spot& spot);
  Outcome one_of(const Spot& spot);
  Outcome all_of(const Spot& spot);

  Outcome branch(const SchemaPtr& schema, const Spot& spot) {
    return value(Spot{*schema, spot.spine, spot.now, spot.before});
  }
  // These name no field of their own.
  Cause composite(std::string_view detail) const {
    return invalid_cause(std::string_view(path_).substr(0, base_), "",
                         fmt::format("{} {}", go_quote(shown_path()), detail));
  }

  std::string path_;
  std::size_t base_ = 0;
};

Outcome ValueValidator::any_of(const Spot& spot) {
  std::optional<Outcome> best;
  for (const SchemaPtr& schema : spot.schema.checks.any_of) {
    Outcome outcome = branch(schema, spot);
    if (outcome.ok()) return outcome;
    if (!best || outcome.matches > best->matches) best = std::move(outcome);
  }
  Outcome failed;
  failed.add(composite("must validate at least one schema (anyOf)"));
  failed.merge_new(*best);
  return failed;
}

Outcome ValueValidator::one_of(const Spot& spot) {
  std::optional<Outcome> best;
  std::optional<Outcome> first;
  int valid = 0;
  for (const SchemaPtr& schema : spot.schema.checks.one_of) {
    Outcome outcome = branch(schema, spot);
    if (outcome.ok()) {
      ++valid;
      if (!first) first = std::move(outcome);
    } else if (!best || outcome.matches > best->matches) {
      best = std::move(outcome);
    }
  }
  if (valid == 1) return std::move(*first);
  Outcome failed;
  failed.add(composite(
      valid == 0 ? "must validate one and only one schema (oneOf). Found none valid"
                 : fmt::format("must validate one and only one schema (oneOf). Found {} valid "
                               "alternatives",
                               valid)));
  if (valid == 0 && best) failed.merge_new(*best);
  return failed;
}

Outcome ValueValidator::all_of(const Spot& spot) {
  Outcome all;
  std::size_t valid = 0;
  for (const SchemaPtr& schema : spot.schema.checks.all_of) {
    const Outcome outcome = branch(schema, spot);
    if (outcome.ok()) ++valid;
    all.merge_new(outcome);
  }
  if (valid < spot.schema.checks.all_of.size()) {
    all.add(composite(valid == 0 ? "must validate all the schemas (allOf). None validated"
                                 : "must validate all the schemas (allOf)"));
  }
  return all;
}

Outcome ValueValidator::junctors(const Spot& spot) {
  const ValueChecks& checks = spot.schema.checks;
  Outcome outcome;
  if (!checks.any_of.empty()) outcome.merge_new(any_of(spot));
  if (!checks.one_of.empty()) outcome.merge_new(one_of(spot));
  if (!checks.all_of.empty()) outcome.merge_new(all_of(spot));
  if (checks.none_of != nullptr && branch(checks.none_of, spot).ok()) {
    outcome.add(composite("must not validate the schema (not)"));
  }
  return outcome;
}

}  // namespace

std::vector<Cause> validate_values(const Validation& input) {
  ValueValidator validator(input.path);
  return validator.ratcheted(Spot{input.schema, &input.schema, input.now, input.before}).causes;
}

}  // namespace amdahl::local

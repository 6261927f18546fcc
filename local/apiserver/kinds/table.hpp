// Objects as rows: what `kubectl get` shows.
//
// Pure functions of the object and the time. Columns and cells are those of kube-apiserver 1.34 for
// the built-in kinds and of additionalPrinterColumns for custom resources. Failure: none; a value
// of an unexpected shape gives an empty cell.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "local/apiserver/kinds/kind.hpp"

namespace amdahl::local {

inline constexpr int kJsonPathStepsMax = 64;

enum class IncludeObject : std::uint8_t { kMetadata, kObject, kNone };

struct TableOptions {
  WallTime now = {};
  IncludeObject include = IncludeObject::kMetadata;
  bool headers = true;  // a watch sends them once
};

// meta.k8s.io/v1 Table; the caller adds metadata.resourceVersion and continue.
Json make_table(const Kind& kind, std::span<const Json* const> objects,
                const TableOptions& options);

Json table_columns(const Kind& kind);
Json table_cells(const Kind& kind, const Json& object, WallTime now);

// "5m10s", "3h", "12d": as kubectl writes spans of time. Negative ones are "<invalid>".
std::string human_duration(std::chrono::microseconds span);
// Since an RFC 3339 text; "<unknown>" for an empty or broken one.
std::string human_age(std::string_view time, WallTime now);

// The first value at a path such as .status.conditions[?(@.type=="Ready")].status; null: none.
const Json* json_path_first(const Json& object, std::string_view path);

}  // namespace amdahl::local

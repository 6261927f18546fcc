// resourceVersions as the API defines them since Kubernetes 1.35: decimal numbers of up to 128
// bits, compared as strings (longer is greater, then lexical). W2, L3 and L4 rest on this.
#pragma once

#include <compare>
#include <optional>
#include <string_view>

namespace amdahl::kube {

// Digits only, no leading zero, at most 39 of them. "0" is a request parameter, not a version.
bool is_version(std::string_view text);

// nullopt when either is not a version: the caller then has to fall back to live reads.
std::optional<std::strong_ordering> compare_versions(std::string_view a, std::string_view b);

// True only when both are versions and a < b.
bool is_older(std::string_view a, std::string_view b);

}  // namespace amdahl::kube

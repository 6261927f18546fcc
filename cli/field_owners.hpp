// Under which names this program writes, so that its verbs and kubectl work on the same objects.
//
// What files say (submit, apply, rerun) is written as kubectl's own manager: then `amdahl apply`,
// `kubectl apply --server-side` and client-side `kubectl apply` continue each other's work, and the
// API server's rules for going between the two kinds of apply hold for us too (ADR 0025). Pause,
// resume and cancel use another manager: a file that does not mention spec.suspend neither
// conflicts with a pause nor ends it.
//
// Pure, any thread. Failure: none; what is not a managed field as Kubernetes writes it is skipped.
#pragma once

#include <optional>
#include <string_view>

#include "base/fields.hpp"

namespace amdahl::cli {

inline constexpr std::string_view kFileManager = "kubectl";
inline constexpr std::string_view kControlManager = "amdahl-control";

// Whether a program that is neither kubectl nor this one manages a field that `manifest` has. Only
// then a conflict is worth a question; between people's tools the newer file wins.
bool others_manage(const Json& live, const Json& manifest);

// A JSON patch that turns what a create wrote into what an apply would have written: a POST is the
// only way to create and never to change, and leaves its fields with an updater, with which every
// apply would conflict. Nullopt: nothing to turn.
std::optional<Json> adoption_patch(const Json& created);

}  // namespace amdahl::cli

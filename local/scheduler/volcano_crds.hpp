// The CustomResourceDefinitions a gang needs, compiled in. Any thread; failure: none.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

namespace amdahl::local {

// YAML of two documents, PodGroup and Queue, as kubectl apply takes it.
std::string_view volcano_crds();

// The same as objects, ready to be created.
std::vector<nlohmann::json> volcano_crd_manifests();

// The Queue that groups go to when they name none: open, without a limit.
nlohmann::json default_queue_manifest();

}  // namespace amdahl::local

// Names of container images, as container registries write them: "host:5000/team/name:tag@digest".
//
// Pure; one pass over the text.
#pragma once

#include <optional>
#include <string_view>

namespace amdahl::local {

// The tag, "latest" if there is neither tag nor digest, "" if there is only a digest. Nothing when
// the text is no name of an image. A view into `image`, or of a literal.
std::optional<std::string_view> image_tag(std::string_view image);

}  // namespace amdahl::local

// A status that the API server will take, whatever the pods wrote into their messages.
//
// Pure. Texts are cut and numbers brought to the bounds of the field table, control characters
// become spaces, of items with one key the last stays, of lists the newest items; then, while the
// whole is over kStatusBytesMax, the oldest attempts lose their nodes and go. Failure: none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "operator/api/training_job_status.hpp"

namespace amdahl::api {

void fit_status(TrainingJobStatus& status);

// As JSON, in bytes.
std::size_t status_bytes(const TrainingJobStatus& status);

// At most `characters` of the text, and twice as many bytes of JSON. No character is cut in half;
// what is no UTF-8 becomes question marks.
std::string fit_text(std::string_view text, std::uint32_t characters);

}  // namespace amdahl::api

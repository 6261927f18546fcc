// What pause, resume and cancel say of a job before they ask, and what became of it after.
//
// Pure, any thread. Failure: none.
#pragma once

#include <cstdint>
#include <string>

#include "base/fields.hpp"
#include "cli/program.hpp"
#include "cli/training_jobs.hpp"

namespace amdahl::cli {

enum class Wish : std::uint8_t { kPause, kResume, kCancel };

struct FirstLook {
  bool ask = true;        // the spec has to change
  bool wait = true;       // there is something to wait for
  std::string said = {};  // why not
  int code = kDone;
};
// `lose_steps`: also pause a job whose steps nobody has saved.
FirstLook first_look(Wish wish, const TrainingJob& job, const std::string& called,
                     bool lose_steps = false);

// The merge patch; `who` may be empty.
Json patch_of(Wish wish, const std::string& who);
// "pause asked for; ..." when nobody waits for it.
std::string asked_text(Wish wish, const TrainingJob& job, const std::string& called);

struct WishVerdict {
  bool open = true;
  std::string said = {};
  int code = kDone;
};
// `generation` is that of the spec with the wish in it: an older status says nothing about it.
WishVerdict judge(Wish wish, std::int64_t generation, const TrainingJob& job);

}  // namespace amdahl::cli

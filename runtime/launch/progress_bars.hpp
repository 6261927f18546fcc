// Steps from progress bars: tqdm's, rich's as Lightning draws them, and Keras's.
//
// Most bars of a training are not its steps: weights that are loaded, data that is mapped, contexts
// that lm-eval builds. A bar counts by its name; one without a name counts if it was the first of
// its kind and lm-eval has not announced it. Thread: one. Failure: none; another line says nothing.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/launch/log_facts.hpp"
#include "runtime/launch/step_count.hpp"

namespace amdahl::launch {

class ProgressBars {
 public:
  static constexpr std::size_t kRequestKindsMax = 8;  // of lm-eval

  std::optional<LogFact> read(std::string_view line);

 private:
  struct Bar {
    std::string_view name = {};
    std::int64_t count = 0;
    std::int64_t of = 0;
    std::string_view after = {};  // "[00:12<00:15,  3.51it/s, loss=1.2]"
  };
  static std::optional<Bar> parse_tqdm(std::string_view line);
  static std::optional<Bar> parse_rich(std::string_view line);
  std::optional<LogFact> read_keras(std::string_view line);
  std::optional<LogFact> read_bar(const Bar& bar);
  std::optional<LogFact> read_unnamed(const Bar& bar);
  std::optional<LogFact> read_requests(const Bar& bar);

  std::int64_t unnamed_of_ = 0;  // of the first bar without a name
  bool lm_eval_ = false;         // whose bars without a name are preparations
  StepCount unnamed_;
  StepCount named_;
  std::map<std::string, std::int64_t, std::less<>> requests_;  // lm-eval's, done of each kind
  std::optional<EpochSeen> keras_epoch_;
  std::int64_t keras_of_ = 0;
};

}  // namespace amdahl::launch

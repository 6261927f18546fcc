// Rules for a job's status: whoever runs jobs may not take back that one has ended. See rules.hpp.
//
// Most of them are asked only when what they are about changes. The form of the lists of indexes
// is not looked at.
#include <algorithm>
#include <string>
#include <string_view>

#include "local/apiserver/kinds/json_access.hpp"
#include "local/apiserver/kinds/rules.hpp"

namespace amdahl::local {

namespace {

const FieldPath& status_path() {
  static const FieldPath path("status");
  return path;
}

// One of the two sides of an update.
struct Side {
  explicit Side(const Json& job) : spec(map_at(job, {"spec"})), status(map_at(job, {"status"})) {}

  bool is_true(std::string_view type) const {
    return std::ranges::any_of(list_at(status, {"conditions"}), [&](const Json& condition) {
      return text_at(condition, {"type"}) == type && text_at(condition, {"status"}) == "True";
    });
  }
  bool finished() const { return is_true("Complete") || is_true("Failed"); }
  std::int64_t count(std::string_view name) const { return number_at(status, {name}).value_or(0); }
  std::string text(std::string_view name) const { return text_at(status, {name}); }
  bool indexed() const { return text_at(spec, {"completionMode"}) == "Indexed"; }

  const Json& spec;
  const Json& status;
};

class StatusUpdate {
 public:
  StatusUpdate(const Json& old, const Json& job, Causes& causes)
      : old_(old), now_(job), causes_(causes) {}

  void check() {
    for (const std::string_view name : {"active", "succeeded", "failed", "ready", "terminating"}) {
      causes_.not_negative(status_path(), now_.status, name);
    }
    check_end();
    check_reasons();
    check_finished();
    check_indexes();
    check_criteria();
    check_taken_back();
  }

 private:
  bool flips(std::string_view type) const { return old_.is_true(type) != now_.is_true(type); }
  bool changes(std::string_view name) const {
    const Json* before = member(old_.status, name);
    const Json* after = member(now_.status, name);
    return before == nullptr || after == nullptr ? before != after : *before != *after;
  }
  void conditions(std::string_view why) {
    causes_.invalid_text(status_path().child("conditions"), why, "");
  }
  void invalid(std::string_view name, const Json& value, std::string_view why) {
    causes_.invalid(status_path().child(name), value, why);
  }

  void check_end() {
    const bool complete = now_.is_true("Complete");
    if ((flips("Complete") || flips("Failed")) && complete && now_.is_true("Failed")) {
      conditions("cannot set Complete=True and Failed=true conditions");
    }
    if ((flips("Complete") || flips("FailureTarget")) && complete &&
        now_.is_true("FailureTarget")) {
      conditions("cannot set Complete=True and FailureTarget=true conditions");
    }
    const std::string end = now_.text("completionTime");
    if (flips("Complete") || changes("completionTime")) {
      if (!end.empty() && !complete) {
        invalid("completionTime", end,
                "cannot set completionTime when there is no Complete=True condition");
      }
      if (end.empty() && complete) {
        causes_.required(status_path().child("completionTime"),
                         "completionTime is required for Complete jobs");
      }
    }
    // Times are kept in one form, so texts are ordered as times are.
    if ((changes("startTime") || changes("completionTime")) && !end.empty() &&
        end < now_.text("startTime")) {
      invalid("completionTime", end, "must be equal to or after `startTime`");
    }
  }

  void check_reasons() {
    if ((flips("Failed") || changes("failedIndexes")) && now_.is_true("Failed") &&
        !now_.is_true("FailureTarget")) {
      conditions("cannot set Failed=True condition without the FailureTarget=true condition");
    }
    if ((flips("Complete") || flips("SuccessCriteriaMet")) && now_.is_true("Complete") &&
        !now_.is_true("SuccessCriteriaMet")) {
      conditions(
          "cannot set Complete=True condition without the SuccessCriteriaMet=true condition");
    }
  }

  void check_finished() {
    if (!now_.finished()) return;
    const bool ends = !old_.finished();
    if ((ends || changes("active")) && now_.count("active") > 0) {
      invalid("active", now_.count("active"), "active>0 is invalid for finished job");
    }
    const bool empty =
        flag_at(now_.spec, {"suspend"}) && number_at(now_.spec, {"completions"}) == 0;
    if ((ends || changes("startTime")) && !empty && now_.text("startTime").empty()) {
      causes_.required(status_path().child("startTime"), "startTime is required for finished job");
    }
  }

  void check_indexes() {
    const std::string completed = now_.text("completedIndexes");
    if (changes("completedIndexes") && !completed.empty() && !now_.indexed()) {
      invalid("completedIndexes", completed,
              "cannot set non-empty completedIndexes when non-indexed completion mode");
    }
    const Json* failed = member(now_.status, "failedIndexes");
    if (changes("failedIndexes") && failed != nullptr &&
        member(now_.spec, "backoffLimitPerIndex") == nullptr) {
      invalid("failedIndexes", *failed,
              "cannot set non-null failedIndexes when backoffLimitPerIndex is null");
    }
    const bool ends = now_.finished() != old_.finished();
    if ((ends || changes("terminating")) && now_.finished() && now_.count("terminating") > 0) {
      invalid("terminating", now_.count("terminating"),
              "terminating>0 is invalid for finished job");
    }
    if ((changes("ready") || changes("active")) && now_.count("ready") > now_.count("active")) {
      invalid("ready", now_.count("ready"), "cannot set more ready pods than active");
    }
  }

  void check_criteria() {
    const bool met = now_.is_true("SuccessCriteriaMet");
    if (met && now_.is_true("Failed")) {
      conditions("cannot set SuccessCriteriaMet=True and Failed=true conditions");
    }
    if (met && now_.is_true("FailureTarget")) {
      conditions("cannot set SuccessCriteriaMet=True and FailureTarget=true conditions");
    }
    if (!met && now_.is_true("Complete") && member(now_.spec, "successPolicy") != nullptr) {
      conditions(
          "cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True");
    }
  }

  void check_taken_back() {
    for (const std::string_view type : {"Failed", "Complete", "FailureTarget"}) {
      if (old_.is_true(type) && !now_.is_true(type)) {
        conditions("cannot disable the terminal " + std::string(type) + "=True condition");
      }
    }
    check_counters();
    const std::string end = now_.text("completionTime");
    if (!end.empty() && !old_.text("completionTime").empty() && changes("completionTime")) {
      invalid("completionTime", end, "field is immutable");
    }
    const bool resumes = old_.is_true("Suspended") && is_false("Suspended");
    if (!old_.text("startTime").empty() && changes("startTime") && !resumes &&
        !flag_at(now_.spec, {"suspend"})) {
      causes_.required(status_path().child("startTime"),
                       "startTime cannot be removed for unsuspended job");
    }
    const bool met = now_.is_true("SuccessCriteriaMet");
    const bool was_met = old_.is_true("SuccessCriteriaMet");
    if (was_met && !met) conditions("cannot disable the SuccessCriteriaMet=True condition");
    if (old_.is_true("Complete") && !was_met && met) {
      conditions("cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions");
    }
  }

  void check_counters() {
    if (now_.count("failed") < old_.count("failed")) {
      invalid("failed", now_.count("failed"), "cannot decrease the failed counter");
    }
    // An indexed job whose parallelism is its completions can be made smaller.
    const bool may_shrink = now_.indexed() && number_at(now_.spec, {"completions"}) ==
                                                  number_at(now_.spec, {"parallelism"});
    if (!may_shrink && now_.count("succeeded") < old_.count("succeeded")) {
      invalid("succeeded", now_.count("succeeded"), "cannot decrease the succeeded counter");
    }
  }

  bool is_false(std::string_view type) const {
    return std::ranges::any_of(list_at(now_.status, {"conditions"}), [&](const Json& condition) {
      return text_at(condition, {"type"}) == type && text_at(condition, {"status"}) == "False";
    });
  }

  Side old_;
  Side now_;
  Causes& causes_;
};

}  // namespace

void check_job_status_update(const Json& old, const Json& job, Causes& causes) {
  StatusUpdate(old, job, causes).check();
}

}  // namespace amdahl::local

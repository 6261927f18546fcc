// Fixtures of the diagnosis: a text that describes an attempt (or a gang that waits), a line of
// three dashes, and what the diagnosis says of it. README.md in testdata has the words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "operator/training/diagnose/diagnose.hpp"
#include "operator/training/diagnose/pending.hpp"

namespace amdahl::training {

struct Fixture {
  std::string path = {};
  std::string head = {};      // up to and with the dashes
  std::string expected = {};  // behind them
};
// All .txt files of a folder, by name.
std::vector<Fixture> read_fixtures(const std::string& folder);
void write_expected(const Fixture& fixture, const std::string& actual);

// Throw std::runtime_error with the line that is not understood.
AttemptEvidence read_attempt(const Fixture& fixture);
PendingEvidence read_pending(const Fixture& fixture);

std::string render(const Diagnosis& diagnosis);
std::string render(const api::PendingStatus& pending);

}  // namespace amdahl::training

#include "runtime/launch/log_scanner.hpp"

#include <catch2/catch.hpp>

#include "base/rng.hpp"

using namespace amdahl;
using namespace amdahl::launch;
using api::ReportErrorKind;
using api::ReportPhase;

namespace {

std::vector<LogFact> scan(std::string_view text) {
  LogScanner scanner;
  std::vector<LogFact> facts;
  scanner.feed(text, [&](const LogFact& fact) { facts.push_back(fact); });
  return facts;
}

LogFact only(std::string_view text) {
  const auto facts = scan(text);
  REQUIRE(facts.size() == 1);
  return facts[0];
}

std::vector<api::ReportError> errors(std::string_view text) {
  std::vector<api::ReportError> found;
  for (const LogFact& fact : scan(text))
    if (const auto* seen = std::get_if<ErrorSeen>(&fact)) found.push_back(seen->error);
  return found;
}

const LogFact kTrain = PhaseSeen{ReportPhase::kTrain};
const LogFact kEval = PhaseSeen{ReportPhase::kEval};
const LogFact kSave = PhaseSeen{ReportPhase::kCheckpointSave};
const LogFact kRestore = PhaseSeen{ReportPhase::kCheckpointRestore};
const LogFact kInit = PhaseSeen{ReportPhase::kInit};

}  // namespace

TEST_CASE("LogScanner reads the lines of the frameworks") {
  struct Row {
    std::string_view line;
    LogFact fact;
  };
  const std::vector<Row> rows = {
      {"{'loss': 2.31, 'grad_norm': 1.5, 'learning_rate': 5e-05, 'epoch': 0.01}",
       MetricsSeen{{{"loss", "2.31"},
                    {"grad_norm", "1.5"},
                    {"learning_rate", "5e-05"},
                    {"epoch", "0.01"}}}},
      {"{'loss': '2.31', 'epoch': '0.01'}", MetricsSeen{{{"loss", "2.31"}, {"epoch", "0.01"}}}},
      {"{'eval_loss': nan, 'epoch': 1.0}", MetricsSeen{{{"eval_loss", "nan"}, {"epoch", "1.0"}}}},
      {"[2024-05-01 10:00:00,123] [INFO] [logging.py:96:log_dist] [Rank 0] step=10, skipped=0, "
       "lr=[0.001, 0.001], mom=[[0.9, 0.999]]",
       StepSeen{.step = 10, .metrics = {{"lr", "0.001"}}}},
      {" iteration       10/     100 | consumed samples:          320 | elapsed time per iteration "
       "(ms): 512.3 | learning rate: 1.500E-04 | lm loss: 1.034E+01 |",
       StepSeen{.step = 10,
                .total = 100,
                .metrics = {{"elapsed time per iteration (ms)", "512.3"},
                            {"learning rate", "1.500E-04"},
                            {"lm loss", "1.034E+01"}}}},
      {" [2024-05-01 10:00:00] iteration 7/ 9 | lm loss: 1 |",
       StepSeen{.step = 7, .total = 9, .metrics = {{"lm loss", "1"}}}},
      {" 10%|\xe2\x96\x88         | 100/1000 [00:10<01:30, 10.00it/s]",
       StepSeen{.step = 100, .total = 1000, .rank = StepRank::kBar}},
      {"Training:  45%|####5     | 45/100 [00:12<00:15,  3.51it/s, loss=1.2]",
       StepSeen{.step = 45, .total = 100, .metrics = {{"loss", "1.2"}}}},
      {"Running loglikelihood requests:  12%|#2| 120/1000 [00:10<01:30, 10.0it/s]",
       StepSeen{.step = 120, .total = 1000, .phase = ReportPhase::kEval}},
      {"Loading checkpoint shards:  50%|#####     | 1/2 [00:01<00:01,  1.2s/it]", kRestore},
      {"Loading checkpoint shards: 100%|##########| 2/2 [00:02<00:00,  1.2s/it]", kInit},
      {"***** Running training *****", kTrain},
      {"INFO:transformers.trainer:***** Running Evaluation *****", kEval},
      {"Saving model checkpoint to /ckpt/checkpoint-500", kSave},
      {"[INFO] [torch_checkpoint_engine.py:21:save] [Torch] Saving /ckpt/x.pt...", kSave},
      {"[INFO] [torch_checkpoint_engine.py:23:save] [Torch] Saved /ckpt/x.pt.", kTrain},
  };
  for (const Row& row : rows) {
    INFO(row.line);
    CHECK(only(std::string(row.line) + "\n") == row.fact);
  }
}

TEST_CASE("LogScanner says nothing about lines that only look like one") {
  for (const std::string_view line : {
           "{'a': 1}",                                             // no epoch
           "{'loss'",                                              // cut
           "step=10, skipped=0",                                   // nobody's prefix
           "[x] step=99999999999999999999, skipped=0",             // too large
           "iteration 10/100",                                     // no table
           "50%|#####     | 5/10",                                 // no time
           "50%|#####     | 50/10 [00:01<00:01]",                  // more than all
           "%|#####     | 5/10 [00:01<00:01]",                     // no number
           "Map:  50%|#####     | 500/1000 [00:01<00:01, 1it/s]",  // data preparation
           "CUDA out of memory",
           "ValueError: not in a traceback",
           "Watchdog caught collective operation timeout",
       }) {
    INFO(line);
    CHECK(scan(std::string(line) + "\n").empty());
  }
}

TEST_CASE("LogScanner reads bars that are drawn over each other with carriage returns") {
  const auto facts = scan(
      "  0%|   | 0/3 [00:00<?, ?it/s]\r 33%|#  | 1/3 [00:01<00:02]\r"
      " 50%|## | 5/10 [00:00<00:00]\r 67%|## | 2/3 [00:02<00:01]\r\n");
  REQUIRE(facts.size() == 4);
  CHECK(facts[1] == LogFact(StepSeen{.step = 1, .total = 3, .rank = StepRank::kBar}));
  CHECK(facts[2] == kEval);  // a second bar without a name, of another length
  CHECK(facts[3] == LogFact(StepSeen{.step = 2, .total = 3, .rank = StepRank::kBar}));
}

TEST_CASE("LogScanner reads lm-eval's table of results") {
  const auto facts = scan(
      "|  Tasks  |Version|Filter|n-shot| Metric |   |Value |   |Stderr|\n"
      "|---------|------:|------|-----:|--------|---|-----:|---|-----:|\n"
      "|hellaswag|      1|none  |     0|acc     |^  |0.5123|+- | 0.005|\n"
      "|         |       |none  |     0|acc_norm|^  |0.6001|+- | 0.005|\n"
      "done\n"
      "|other|1|none|0|acc|^|0.9|\n");
  REQUIRE(facts.size() == 2);
  CHECK(facts[0] == LogFact(MetricsSeen{{{"hellaswag/acc", "0.5123"}}}));
  CHECK(facts[1] == LogFact(MetricsSeen{{{"hellaswag/acc_norm", "0.6001"}}}));
}

TEST_CASE("LogScanner finds the exception at the end of a traceback") {
  const auto found = errors(
      "Traceback (most recent call last):\n"
      "  File \"/app/train.py\", line 7, in <module>\n"
      "    main()\n"
      "  File \"/app/model.py\", line 31, in forward\n"
      "    return x @ w\n"
      "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried 2 GiB\n");
  REQUIRE(found.size() == 1);
  CHECK(found[0].kind == ReportErrorKind::kGpuOutOfMemory);
  CHECK(found[0].type == "torch.cuda.OutOfMemoryError");
  CHECK(found[0].message == "CUDA out of memory. Tried 2 GiB");
  CHECK(found[0].where == "/app/model.py:31 in forward");
}

TEST_CASE("LogScanner follows the traceback of one rank among others") {
  const auto found = errors(
      "[rank3]: Traceback (most recent call last):\n"
      "[rank1]: Traceback (most recent call last):\n"
      "[rank3]:   File \"a.py\", line 1, in f\n"
      "something else\n"
      "[rank1]: KeyError: 'x'\n"
      "[rank3]: ValueError: bad\n");
  REQUIRE(found.size() == 1);
  CHECK(found[0].rank == 3);
  CHECK(found[0].kind == ReportErrorKind::kException);
  CHECK(found[0].message == "bad");
}

TEST_CASE("LogScanner knows kinds of failure") {
  const auto kind = [](std::string_view end) {
    const auto found = errors("Traceback (most recent call last):\n" + std::string(end) + "\n");
    return found.size() == 1 ? found[0].kind : ReportErrorKind::kUnknown;
  };
  CHECK(kind("RuntimeError: CUDA error: device-side assert") == ReportErrorKind::kGpuFault);
  CHECK(kind("torch.distributed.DistBackendError: NCCL error in: x.cpp:1") ==
        ReportErrorKind::kCollectiveError);
  CHECK(kind("torch.distributed.elastic.rendezvous.api.RendezvousTimeoutError") ==
        ReportErrorKind::kRendezvousTimeout);
  CHECK(kind("KeyboardInterrupt") == ReportErrorKind::kException);
  CHECK(kind("torch.distributed.elastic.multiprocessing.errors.ChildFailedError:") ==
        ReportErrorKind::kUnknown);
  const auto hang = errors(
      "[rank3]:[E1117 10:00:00 ProcessGroupNCCL.cpp:632] [Rank 3] Watchdog "
      "caught collective operation timeout: WorkNCCL(SeqNum=9, OpType=ALLREDUCE"
      ") ran for 600000 milliseconds before timing out.\n");
  REQUIRE(hang.size() == 1);
  CHECK(hang[0].kind == ReportErrorKind::kCollectiveTimeout);
  CHECK(hang[0].rank == 3);
}

TEST_CASE("LogScanner reads who was killed from torchrun's summary") {
  const auto found = errors(
      "Root Cause (first observed failure):\n[0]:\n"
      "  time      : 2024-01-01_00:00:00\n"
      "  host      : x\n"
      "  rank      : 5 (local_rank: 1)\n"
      "  exitcode  : -9 (pid: 123)\n"
      "  error_file: <N/A>\n"
      "  traceback : Signal 9 (SIGKILL) received by PID 123\n");
  REQUIRE(found.size() == 1);
  CHECK(found[0].kind == ReportErrorKind::kWorkerKilled);
  CHECK(found[0].rank == 5);
  CHECK(found[0].message == "Signal 9 (SIGKILL) received by PID 123");
}

TEST_CASE("LogScanner finds who was killed among the failures that torchrun saw later") {
  const std::string other =
      "[0]:\n  rank      : 4 (local_rank: 0)\n  exitcode  : 1 (pid: 122)\n  error_file: <N/A>\n"
      "  traceback : To enable traceback see: https://pytorch.org/docs\n";
  const auto entry = [](int signal) {
    return "[1]:\n  rank      : 5 (local_rank: 1)\n  exitcode  : -" + std::to_string(signal) +
           " (pid: 123)\n  error_file: <N/A>\n  traceback : Signal received by PID 123\n";
  };
  const auto found =
      errors("Failures:\n" + entry(9) + "-----\nRoot Cause (first observed failure):\n" + other);
  REQUIRE(found.size() == 1);
  CHECK(found[0].kind == ReportErrorKind::kWorkerKilled);
  CHECK(found[0].rank == 5);
  CHECK(errors("Failures:\n" + entry(15)).empty());  // torchrun's own doing
}

TEST_CASE("LogScanner reads torchrun's error file") {
  const auto error = read_error_file(
      R"({"message": {"message": "ValueError: bad", "extraInfo": {"timestamp": "1"}}})");
  REQUIRE(error);
  CHECK(error->type == "ValueError");
  CHECK(error->message == "bad");
  CHECK(error->source == api::ReportErrorSource::kErrorFile);
  CHECK(read_error_file(R"({"message": "went wrong"})")->message == "went wrong");
  for (const std::string_view bad : {"", "{", "[]", "7", R"({"message": 7})", R"({"message": {}})"})
    CHECK_FALSE(read_error_file(bad));
}

TEST_CASE("LogScanner finds the same facts however the bytes are cut") {
  const std::string text =
      " 10%|# | 1/10 [00:10<01:30]\r 20%|# | 2/10 [00:10<01:30]\nTraceback (most recent call last):"
      "\n  File \"a\", line 1, in b\nE: x\n\n\r\n{'loss': 1, 'epoch': 1}\n";
  const auto whole = scan(text);
  REQUIRE(whole.size() == 4);
  Rng rng(3);
  for (int round = 0; round < 200; ++round) {
    LogScanner scanner;
    std::vector<LogFact> facts;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t size = 1 + rng.below(20);
      scanner.feed(std::string_view(text).substr(at, size),
                   [&](const LogFact& fact) { facts.push_back(fact); });
      at += size;
    }
    CHECK(facts == whole);
  }
}

TEST_CASE("LogScanner keeps the head of a line of a gigabyte and goes on after it") {
  LogScanner scanner;
  std::vector<LogFact> facts;
  const auto sink = [&](const LogFact& fact) { facts.push_back(fact); };
  scanner.feed(" 10%|# | 1/10 [00:10<01:30]", sink);
  const std::string chunk(std::size_t{1} << 20U, '\xff');
  for (int i = 0; i < 1024; ++i) scanner.feed(chunk, sink);
  scanner.feed("\n 20%|# | 2/10 [00:10<01:30]\n", sink);
  REQUIRE(facts.size() == 2);
  CHECK(facts[1] == LogFact(StepSeen{.step = 2, .total = 10, .rank = StepRank::kBar}));
}

TEST_CASE("LogScanner does not join what was not together") {
  LogScanner scanner;
  std::vector<LogFact> facts;
  const auto sink = [&](const LogFact& fact) { facts.push_back(fact); };
  scanner.feed("Traceback (most recent call last):\n 10%|# | 1/", sink);
  scanner.gap();
  scanner.feed("10 [00:10<01:30]\nValueError: x\n", sink);
  CHECK(facts.empty());
}

#include "operator/training/diagnose/failure_text.hpp"

#include <catch2/catch.hpp>

#include "operator/training/diagnose/error_file.hpp"
#include "operator/training/diagnose/evidence.hpp"
#include "operator/training/diagnose/python_error.hpp"

namespace amdahl::training {
namespace {

constexpr std::string_view kKeyError =
    "Traceback (most recent call last):\n"
    "  File \"/app/train.py\", line 12, in main\n"
    "    x[\"a\"]\n"
    "    ~~^^^^^\n"
    "  [Previous line repeated 3 more times]\n"
    "KeyError: 'a'\n";

TEST_CASE("find_python_error reads type, message and last frame") {
  const auto error = find_python_error(kKeyError);
  REQUIRE(error);
  CHECK(error->type == "KeyError");
  CHECK(error->message == "'a'");
  CHECK(error->frame == "train.py:12 in main");
}

TEST_CASE("find_python_error takes the last of a chain") {
  const std::string text =
      std::string(kKeyError) +
      "\nDuring handling of the above exception, another exception occurred:\n\n"
      "Traceback (most recent call last):\n"
      "  File \"a.py\", line 1, in f\n"
      "    g()\n"
      "mod.MyError\n";
  const auto error = find_python_error(text);
  REQUIRE(error);
  CHECK(error->type == "mod.MyError");
  CHECK(error->name() == "MyError");
  CHECK(error->message.empty());
}

TEST_CASE("find_python_error passes over the launcher's report, and reads what it quotes") {
  const std::string launcher =
      "Traceback (most recent call last):\n"
      "  File \"/usr/bin/torchrun\", line 8, in <module>\n"
      "    sys.exit(main())\n"
      "torch.distributed.elastic.multiprocessing.errors.ChildFailedError:\n";
  CHECK_FALSE(find_python_error(launcher));
  const std::string quoted = launcher +
                             "Root Cause (first observed failure):\n[0]:\n"
                             "  exitcode  : 1 (pid: 7)\n"
                             "  traceback : Traceback (most recent call last):\n"
                             "    File \"/app/train.py\", line 5, in main\n"
                             "      fail()\n"
                             "  OSError: disk full\n";
  const auto error = find_python_error(quoted);
  REQUIRE(error);
  CHECK(error->type == "OSError");
  CHECK(error->frame == "train.py:5 in main");
}

TEST_CASE("find_python_error prefers another rank's mistake to a lost peer") {
  const auto lines = [](std::string_view prefix, std::string_view last) {
    return fmt::format(
        "{0}Traceback (most recent call last):\n{0}  File \"t.py\", line 1, in f\n{0}    "
        "g()\n{0}{1}\n",
        prefix, last);
  };
  const std::string text = lines("[rank1]: ", "KeyError: 'x'") +
                           lines("[rank0]: ", "torch.distributed.DistBackendError: NCCL error");
  CHECK(find_python_error(text)->type == "KeyError");
  // In one process the later exception is what ended it.
  const std::string same = lines("", "KeyError: 'x'") + lines("", "x.DistBackendError: NCCL");
  CHECK(find_python_error(same)->name() == "DistBackendError");
}

TEST_CASE("find_python_error reads a traceback whose head was cut off") {
  const auto error = find_python_error(
      "le \"x.py\", line 3, in g\n[rank0]:   File \"/app/data.py\", line 44, in load\n[rank0]:     "
      "y()\n"
      "[rank0]: OSError: disk full\n");
  REQUIRE(error);
  CHECK(error->type == "OSError");
  CHECK(error->frame == "data.py:44 in load");
  CHECK(find_python_error("torch.distributed.DistStoreError: Timed out")->name() ==
        "DistStoreError");
  CHECK_FALSE(find_python_error("Error: it is wrong 7Error: x\nNote: see ErrorLog"));
}

TEST_CASE("find_python_error finds nothing in what is none") {
  for (const std::string_view text :
       {"", "Traceback (most recent call last):", "Traceback (most recent call last):\n",
        "Traceback (most recent call last):\n  File \"a\", line x, in f\nKey: 1\n",
        "Traceback (most recent call last):\n  File \"a.py\", line 1\n    f()\n!!! no "
        "exception\n"}) {
    CAPTURE(text);
    CHECK_FALSE(find_python_error(text));
  }
}

TEST_CASE("scan_failure marks the words of each kind") {
  struct Row {
    std::string_view text = {};
    Mark mark = Mark::kGpuOutOfMemory;
  };
  for (const Row& row : std::vector<Row>{
           {"RuntimeError: CUDA out of memory.", Mark::kGpuOutOfMemory},
           {"CUBLAS_STATUS_ALLOC_FAILED when calling", Mark::kGpuOutOfMemory},
           {"CUDA error: uncorrectable ECC error encountered", Mark::kGpuHardware},
           {"DataLoader worker (pid 7) is killed by signal: Bus error", Mark::kWorkerKilled},
           {"exec: signal: killed", Mark::kWorkerKilled},
           {"step 7 Loss: NaN", Mark::kNotANumber},
           {"nan in loss", Mark::kNotANumber},
           {"loss=inf", Mark::kNotANumber},
           {"RendezvousTimeoutError", Mark::kRendezvous},
           {"unhandled system error (run with NCCL_DEBUG=INFO)", Mark::kConnection},
           {"Process 1 got signal: 15", Mark::kToldToStop}}) {
    CAPTURE(row.text);
    const FailureText found = scan_failure(row.text);
    for (std::size_t mark = 0; mark < kMarks; ++mark)
      CHECK(found.has(static_cast<Mark>(mark)) == (static_cast<Mark>(mark) == row.mark));
  }
  for (const std::string_view text :
       {"loss 1.2, info: finance", "glossary: nannies", "nan\nloss 1"})
    CHECK_FALSE(scan_failure(text).has(Mark::kNotANumber));
}

TEST_CASE("scan_failure reads the watchdog's line, whole or cut") {
  const std::string line =
      "[Rank 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=42, "
      "OpType=ALLREDUCE, "
      "NumelIn=1, Timeout(ms)=600000) ran for 600021 milliseconds";
  const auto whole = scan_failure(line).collective;
  REQUIRE(whole);
  CHECK(whole->operation == "ALLREDUCE");
  CHECK(whole->sequence == 42);
  CHECK(whole->timeout_ms == 600'000);
  const auto cut = scan_failure(line.substr(0, 70)).collective;
  REQUIRE(cut);
  CHECK_FALSE(cut->timeout_ms);
}

TEST_CASE("scan_failure reads how a launcher says that its worker was killed") {
  CHECK(scan_failure("  exitcode  : -11 (pid: 3)").child_signal == 11);
  CHECK(scan_failure("traceback : Signal 9 (SIGKILL) received by PID 77").child_signal == 9);
  CHECK(scan_failure("[launch.py:315] pid 7 exits with return code = -6").child_signal == 6);
  CHECK_FALSE(scan_failure("exitcode  : 1 (pid: 3)").child_signal);
  CHECK_FALSE(scan_failure("exitcode  : -99999999999999999999").child_signal);
}

TEST_CASE("scan_failure looks at the end of a long text") {
  const std::string text = "CUDA out of memory\n" + std::string(kEvidenceTextMax, 'x');
  CHECK_FALSE(scan_failure(text).has(Mark::kGpuOutOfMemory));
  CHECK(scan_failure(std::string(kEvidenceTextMax, 'x') + "CUDA out of memory")
            .line(Mark::kGpuOutOfMemory)
            .size() <= kLineMax);
}

TEST_CASE("parse_error_file reads torchrun's file, cut anywhere") {
  const std::string whole =
      R"({"message": {"message": "ValueError: \u00fc \ud83d\ude00 \"q\"", "extraInfo": )"
      R"({"py_callstack": "Traceback\n  File", "timestamp": "1700000000"}}})";
  const auto file = parse_error_file(whole);
  REQUIRE(file);
  CHECK(file->message == "ValueError: \xc3\xbc \xf0\x9f\x98\x80 \"q\"");
  CHECK(file->traceback == "Traceback\n  File");
  CHECK(file->timestamp == 1'700'000'000);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto part = parse_error_file(std::string_view(whole).substr(0, size));
    if (size > whole.find("extraInfo")) REQUIRE(part);
  }
}

TEST_CASE("parse_error_file refuses what is no such file") {
  for (const std::string_view text : {"", "   ", "{", "{}", "[1]", "no", R"({"a": "b"})",
                                      R"({"message": 7})", R"({"message": {}})"})
    CHECK_FALSE(parse_error_file(text));
}

TEST_CASE("scan_failure reads the error in the last report of the launcher") {
  const FailureText found = scan_failure(
      R"({"job": "ns/llama", "metrics": [{"name": "loss", "value": "2.5"}], "error": {"kind": "Exception",
          "type": "KeyError", "message": "'ids'", "where": "data.py:44 in collate"}, "exit": {"code": 1}})");
  REQUIRE(found.error);
  CHECK(found.error->type == "KeyError");
  CHECK(found.error->message == "'ids'");
  CHECK(found.error->frame == "data.py:44 in collate");
}

TEST_CASE("clean_line makes one line of valid UTF-8") {
  CHECK(clean_line("  a\nb\tc  ", 100) == "a b c");
  CHECK(clean_line("\xc3\xbc\xff\xe2\x82", 100) == "\xc3\xbc???");
  CHECK(clean_line("\xed\xa0\x80|\xc0\xaf|\xf5\x80\x80\x80", 100) == "???|??|????");
  CHECK(clean_line("\xc3\xbc\xc3\xbc", 3) == "\xc3\xbc");
}

}  // namespace
}  // namespace amdahl::training

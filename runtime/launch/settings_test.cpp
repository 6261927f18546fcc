#include "runtime/launch/settings.hpp"

#include <catch2/catch.hpp>

#include "runtime/launch/command.hpp"

using namespace amdahl::launch;
using namespace std::chrono_literals;
using Command = std::vector<std::string>;

TEST_CASE("Settings reads what the operator sets") {
  const Settings settings = read_settings(Variables({
      "AMDAHL_JOB=research/llama",
      "AMDAHL_JOB_UID=u",
      "AMDAHL_POD=llama-2-1",
      "AMDAHL_POD_UID=p",
      "AMDAHL_ATTEMPT=2",
      "AMDAHL_RUNTIME=Torchrun",
      "PET_NNODES=3",
      "PET_NPROC_PER_NODE=8",
      "PET_NODE_RANK=1",
      "PET_MASTER_ADDR=llama-2-0.llama",
      "AMDAHL_HOST_PATTERN=llama-2-{}.llama",
      "AMDAHL_GRACE_SECONDS=90",
      "AMDAHL_SOCKET=/run/a.sock",
      "AMDAHL_REPORT_URL=https://op.ns.svc:8443/report/v1",
      "AMDAHL_REPORT_CA=/ca",
      "AMDAHL_REPORT_TOKEN=/token",
      "AMDAHL_METRICS_PORT=9000",
      "AMDAHL_POD_ADDRESS=10.0.0.7",
      "TORCHELASTIC_ERROR_FILE=/dev/termination-log",
      "AMDAHL_CHECKPOINT_URI=file:///ckpt/",
  }));
  CHECK(settings.complaints.empty());
  CHECK(settings.runtime == Runtime::kTorchrun);
  CHECK(settings.job == "research/llama");
  CHECK(settings.attempt == 2);
  CHECK(settings.rank == 1);
  CHECK(settings.nodes == 3);
  CHECK(settings.slots == 8);
  CHECK(settings.grace == 90s);
  CHECK(settings.metrics_port == 9000);
  CHECK(settings.metrics_address == "10.0.0.7");
  CHECK(settings.marker == "/ckpt/amdahl-committed.json");
  CHECK(settings.termination_log == "/dev/termination-log");
  CHECK(settings.report ==
        ReportTarget{.tls = true, .host = "op.ns.svc", .port = 8443, .path = "/report/v1"});
  CHECK(hosts_to_wait_for(settings) == Command{"llama-2-0.llama"});
}

TEST_CASE("Settings takes bad values for absent and says so") {
  const Settings settings = read_settings(Variables({
      "AMDAHL_RUNTIME=Fortran",
      "PET_NNODES=1:4",
      "AMDAHL_GRACE_SECONDS=-1",
      "AMDAHL_ATTEMPT=x",
      "AMDAHL_REPORT_URL=ftp://x",
      "AMDAHL_METRICS_PORT=70000",
      "PET_NPROC_PER_NODE=gpu",
  }));
  CHECK(settings.complaints.size() == 6);
  CHECK(settings.nodes == 1);
  CHECK(settings.grace == kGraceDefault);
  CHECK_FALSE(settings.report);
  CHECK(settings.metrics_port == 0);
  CHECK(read_settings(Variables{}).complaints.empty());
}

TEST_CASE("Settings reads addresses of the report endpoint") {
  CHECK(parse_report_url("http://10.0.0.1/x") ==
        ReportTarget{.host = "10.0.0.1", .port = 80, .path = "/x"});
  CHECK(parse_report_url("https://[fd00::1]:8443") ==
        ReportTarget{.tls = true, .host = "fd00::1", .port = 8443});
  for (const std::string_view bad :
       {"", "x", "http://", "http://h:0/", "http://h:99999/", "http://h:1x/", "http://u@h/",
        "http://h/a b", "http://h/a\r\nX: y", "http://[::1", "http://[::1]x/", "http://h h/"})
    CHECK_FALSE(parse_report_url(bad));
}

TEST_CASE("Settings lets rank 0 wait for everybody and the others for rank 0") {
  Settings settings{.nodes = 3, .master = "a-0.a", .host_pattern = "a-{}.a"};
  CHECK(hosts_to_wait_for(settings) == Command{"a-1.a", "a-2.a"});
  settings.rank = 2;
  CHECK(hosts_to_wait_for(settings) == Command{"a-0.a"});
  settings.nodes = 1;
  CHECK(hosts_to_wait_for(settings).empty());
}

TEST_CASE("start_command puts torchrun before a script and before nothing else", "[D1]") {
  struct Row {
    Command given;
    Command started;
  };
  const std::string run = "torch.distributed.run";
  const std::vector<Row> rows = {
      {{"python", "train.py", "--lr", "1"}, {"python", "-m", run, "train.py", "--lr", "1"}},
      {{"train.py", "--lr", "1"}, {"python3", "-m", run, "train.py", "--lr", "1"}},
      {{"/app/train.py"}, {"python3", "-m", run, "/app/train.py"}},
      {{"./train"}, {"./train"}},
      {{".py"}, {".py"}},
      {{"/opt/bin/python3.11", "-u", "-X", "dev", "train.py"},
       {"/opt/bin/python3.11", "-u", "-X", "dev", "-m", run, "train.py"}},
      {{"python", "-m", "pkg.train", "-x"}, {"python", "-m", run, "--module", "pkg.train", "-x"}},
      {{"python", "-m", run, "t.py"}, {"python", "-m", run, "t.py"}},
      {{"python", "-m", "deepspeed", "t.py"}, {"python", "-m", "deepspeed", "t.py"}},
      {{"python", "-mpkg.train", "cfg.yaml"},
       {"python", "-m", run, "--module", "pkg.train", "cfg.yaml"}},
      {{"python", "-um", "pkg.train", "t.py"},
       {"python", "-u", "-m", run, "--module", "pkg.train", "t.py"}},
      {{"python", "-uBmpkg", "-m", "x"},
       {"python", "-uB", "-m", run, "--module", "pkg", "-m", "x"}},
      {{"python", "-Wignore", "-W", "m", "-Xmx", "t.py"},
       {"python", "-Wignore", "-W", "m", "-Xmx", "-m", run, "t.py"}},
      {{"python", "-mtorch.distributed.run", "t.py"},
       {"python", "-mtorch.distributed.run", "t.py"}},
      {{"python", "train", "t.py"}, {"python", "-m", run, "train", "t.py"}},
      {{"python", "/usr/bin/torchrun", "t.py"}, {"python", "/usr/bin/torchrun", "t.py"}},
      {{"python", "--", "t.py"}, {"python", "--", "t.py"}},
      {{"python", "-", "t.py"}, {"python", "-", "t.py"}},
      {{"python", "-um"}, {"python", "-um"}},
      {{"python", "-uc", "print(1)", "t.py"}, {"python", "-uc", "print(1)", "t.py"}},
      {{"python", "-cprint(1)", "t.py"}, {"python", "-cprint(1)", "t.py"}},
      {{"python", "-c", "print(1)"}, {"python", "-c", "print(1)"}},
      {{"python"}, {"python"}},
      {{"python", "-m"}, {"python", "-m"}},
      {{"python", "-X"}, {"python", "-X"}},
      {{"torchrun", "t.py"}, {"torchrun", "t.py"}},
      {{"accelerate", "launch", "t.py"}, {"accelerate", "launch", "t.py"}},
      {{"pythonic", "t.py"}, {"pythonic", "t.py"}},
      {{"bash", "-c", "python t.py"}, {"bash", "-c", "python t.py"}},
      {{}, {}},
  };
  for (const Row& row : rows) {
    CHECK(start_command(Runtime::kTorchrun, row.given, "python3") == row.started);
    CHECK(start_command(Runtime::kDeepSpeed, row.given, "python3") == row.started);
    CHECK(start_command(Runtime::kPython, row.given, "python3") == row.given);
  }
}

TEST_CASE("trainer_variables adds to the environment and hides our termination message") {
  const Settings settings{.runtime = Runtime::kTorchrun, .rank = 1, .nodes = 2, .grace = 90s};
  const Variables given({"A=1", "TORCHELASTIC_ERROR_FILE=/dev/termination-log", "AMDAHL_RANK=9"});
  const Variables variables =
      trainer_variables(settings, {.socket = "/s", .error_file = "/e", .hostfile = "/h"}, given);
  CHECK(variables.get("A") == "1");
  CHECK(variables.get("AMDAHL_SOCKET") == "/s");
  CHECK(variables.get("TORCHELASTIC_ERROR_FILE") == "/e");
  CHECK(variables.get("AMDAHL_HOSTFILE") == "/h");
  CHECK(variables.get("AMDAHL_RANK") == "1");
  CHECK(variables.get("AMDAHL_NODES") == "2");
  CHECK(variables.get("TORCH_ELASTIC_SHUTDOWN_TIMEOUT") == "81");
  CHECK_FALSE(variables.has("PYTHONPATH"));
  const Variables untouched = trainer_variables({}, {}, Variables({"AMDAHL_SOCKET=/x"}));
  CHECK(untouched.get("AMDAHL_SOCKET") == "/x");
  CHECK_FALSE(untouched.has("TORCH_ELASTIC_SHUTDOWN_TIMEOUT"));
}

TEST_CASE("trainer_variables puts the folder of hooks first on the path of Python", "[D8]") {
  const OwnFiles files{.hooks = "/t/hooks"};
  const auto path = [&](std::vector<std::string> given) {
    return std::string(trainer_variables({}, files, Variables(std::move(given))).get("PYTHONPATH"));
  };
  CHECK(path({}) == "/t/hooks");
  CHECK(path({"PYTHONPATH="}) == "/t/hooks");  // and not the working directory
  CHECK(path({"PYTHONPATH=/a:/b"}) == "/t/hooks:/a:/b");
}

TEST_CASE("hostfile_text has a line a node") {
  const Settings settings{
      .runtime = Runtime::kDeepSpeed, .nodes = 2, .slots = 8, .host_pattern = "a-{}.a"};
  CHECK(hostfile_text(settings) == "a-0.a slots=8\na-1.a slots=8\n");
  CHECK(hostfile_text({}).empty());
}

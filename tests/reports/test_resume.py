"""A resumed attempt whose pods run before it is on record: its launchers are heard soon after."""

import sys
import time
import unittest
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parent),
                str(Path(__file__).resolve().parents[1] / "launch")]

from launch import Launch, python  # noqa: E402
from report_world import ReportWorld, jobs_of, wait_for  # noqa: E402
from tap import Tap  # noqa: E402

SHOWN_SECONDS_MAX = 5
TRAINER = "import time; from amdahl import job; job.step(1, 1000); time.sleep(600)"


class Resume(unittest.TestCase):
    def setUp(self):
        self.world = ReportWorld()
        self.addCleanup(self.world.close)
        self.world.make_namespace("default")
        self.api = Tap(self.world.server.port)
        self.addCleanup(self.api.close)
        operator = self.world.operator("--no-leader-election", server_port=self.api.port)
        self.reports = Tap(operator.report_port())
        self.addCleanup(self.reports.close)

    def status(self) -> dict:
        return self.world.status("default", "llama")

    def pause(self) -> None:
        self.world.start_pod("default", "llama-1-0")
        wait_for(lambda: self.status().get("phase") == "Running", lambda: str(self.status()))
        self.world.edit("default", "llama", suspend=True)

        def paused():
            pod = self.world.pod("default", "llama-1-0") or {}
            if pod.get("metadata", {}).get("deletionTimestamp"):
                self.world.end_pod("default", "llama-1-0")
            return self.status().get("phase") == "Paused" and not pod
        wait_for(paused, lambda: str(self.status()))

    def launch(self) -> Launch:
        wait_for(lambda: self.world.pod("default", "llama-2-0"), lambda: str(self.status()))
        pod = self.world.pod_with_token("default", "llama-2-0")
        token = self.world.server.certs / "token"
        token.write_text(pod.token)
        return self.enterContext(Launch(*python(TRAINER), env={
            "AMDAHL_REPORT_URL": f"http://127.0.0.1:{self.reports.port}/v1/report",
            "AMDAHL_REPORT_TOKEN": str(token), "AMDAHL_JOB": "default/llama",
            "AMDAHL_POD": pod.name, "AMDAHL_ATTEMPT": "2", "AMDAHL_RANK": "0"}))

    def answers(self, status: int) -> list[float]:
        return [at for one, at in self.reports.answers if one == status]

    # promises: D11
    def test_the_first_step_is_shown_as_soon_as_the_attempt_is_on_record(self):
        self.world.submit("default", "llama")
        self.pause()
        self.api.hold(f"{jobs_of('default')}/llama/status")
        self.world.edit("default", "llama", suspend=False)
        launched = self.launch()
        # Refused, and the launcher tries again: the pod runs, and the job is still at attempt 1.
        wait_for(lambda: len(self.answers(403)) > 1, lambda: str(self.reports.answers))
        wait_for(lambda: self.api.held > 0, lambda: str(self.status()))
        self.assertEqual((self.status()["attempt"], self.answers(200)), (1, []))
        self.api.release()
        wait_for(lambda: self.status()["attempt"] == 2, lambda: str(self.status()))
        recorded = time.monotonic()
        self.world.start_pod("default", "llama-2-0")
        wait_for(lambda: self.status().get("progress", {}).get("step") == 1,
                 lambda: f"{self.status()} {self.reports.answers} {launched.errors()}")
        shown = time.monotonic() - recorded
        heard = self.answers(200)[0] - recorded
        print(f"\nheard {heard:.1f} s, shown {shown:.1f} s after the record", end=" ", flush=True)
        self.assertLess(shown, SHOWN_SECONDS_MAX)
        self.assertIn("reports arrive again", launched.errors())
        self.assertIsNone(launched.process.poll())


if __name__ == "__main__":
    unittest.main()

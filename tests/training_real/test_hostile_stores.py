"""The operator looks at stores that were made to hurt it, beside jobs of other people."""

import re
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from hostile_store import MIB, HostileStore  # noqa: E402
from store_case import StoreCase, sanitizer_without_quarantine  # noqa: E402

JOBS = 4  # as many as are looked at side by side
GROWTH_MAX = 64 * MIB


class HostileStores(StoreCase):
    environment = sanitizer_without_quarantine()

    def memory(self, what: str) -> int:
        """Of the process that is the operator, in bytes."""
        text = Path(f"/proc/{self.home.status()['pid']}/status").read_text()
        return int(re.search(rf"{what}:\s+(\d+) kB", text)[1]) * 1024

    def paused(self, names: list[str]) -> None:
        """Jobs with two checkpoints each."""
        for name in names:
            self.start(name, "--steps", 2, "--stay")
        for name in names:
            self.until(lambda name=name: self.status(name).get("checkpoint", {})
                       .get("lastCommitted", {}).get("step") == 2, f"{name}: step 2")
            self.home.run("pause", name)
        for name in names:
            self.until_phase(name, "Paused")

    def store(self, name: str) -> HostileStore:
        uid = self.live(name)["metadata"]["uid"]
        return HostileStore(self.folder(name), uid, self.home.path / "hostile")

    # promises: A4
    def test_looks_at_hostile_stores_take_little_memory(self):
        names = [f"hostile-{number}" for number in range(JOBS)]
        self.paused(names)
        for name in names:
            store = self.store(name)
            for step, add in enumerate(
                    (store.many_receipts_of_another_digest, store.deep, store.empty_values,
                     store.many_objects, store.sizes_that_are_not_true, store.dense_manifest), 10):
                add(step)
        before = self.memory("VmRSS")
        # From here on counts what is the most.
        Path(f"/proc/{self.home.status()['pid']}/clear_refs").write_text("5")
        for name in names:
            self.home.run("resume", name)
        for name in names:
            self.until(lambda name=name: self.condition(name).get("reason") == "Verified",
                       f"{name}: step 2 is found below what is damaged", 180)
        growth = self.memory("VmHWM") - before
        print(f"operator: {before // MIB} MiB before, {growth // MIB} MiB more at the peak")
        self.assertLessEqual(growth, GROWTH_MAX)
        for name in names:
            status = self.status(name)
            self.assertEqual(status["attempts"][1]["resumedFromStep"], 2)
            self.assertEqual(len(self.until_event(name, "CheckpointDamaged")), 1)

    # promises: A4
    def test_records_beyond_the_limit_are_said_and_the_job_goes_on(self):
        self.paused(["large"])
        self.store("large").beyond_the_budget(10)
        self.home.run("resume", "large")
        self.until(lambda: "exceeds the limit" in self.condition("large").get("message", ""),
                   "it is said")
        condition = self.condition("large")
        self.assertEqual((condition["status"], condition["reason"]), ("Unknown", "NotVerified"))
        self.assertIn("checkpoint step 10: ", condition["message"])
        self.until_event("large", "CheckpointNotVerified")
        self.until(lambda: self.pods("large"), "its pod is made all the same")


if __name__ == "__main__":
    unittest.main()

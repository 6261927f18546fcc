"""lm-eval in a folder below build/ that is made once, by pip from PyPI.

usage: python3 tests/training_real/lm_eval_folder.py     makes it, if need be, and prints its path

torch and transformers are those of `make frameworks`.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FRAMEWORKS = ROOT / "tools" / "frameworks.py"
INSTALL_SECONDS_MAX = 600

LM_EVAL = "lm_eval==0.4.13"
REQUIREMENTS = (
    "absl_py==2.5.1", "attrs==26.1.0", "certifi==2026.10.18", "chardet==7.7.0",
    "charset_normalizer==3.5.2", "colorama==0.4.6", "dataproperty==1.1.1", "datasets==5.2.0",
    "dill==0.4.1", "evaluate==0.4.6", "joblib==1.6.0", "jsonlines==4.0.0", "lxml==6.1.3",
    "mbstrdecoder==1.1.5", "more_itertools==11.2.1", "multiprocess==0.70.19", "nltk==3.10.4",
    "pandas==3.1.1", "pathvalidate==3.3.1", "portalocker==4.4.2", "pyarrow==26.0.1",
    "pytablewriter==1.2.1", "python_dateutil==4.0.0", "pytz==2026.6", "requests==2.34.2",
    "rouge_score==0.1.2", "sacrebleu==2.6.0", "scikit_learn==1.9.1", "scipy==1.17.1",
    "six==1.17.0", "sqlitedict==2.1.0", "tabledata==1.3.5", "tabulate==0.10.0", "tcolorpy==0.1.7",
    "threadpoolctl==3.8.0", "typepy==2.0.0", "tzdata==2026.6", "urllib3==2.8.0",
    "word2number==1.1", "xxhash==4.1.0", "zstandard==0.25.0")


class NotInstalled(Exception):
    """Why there is no lm-eval here."""


def frameworks_python() -> str:
    """The interpreter that has torch and transformers."""
    if given := os.environ.get("AMDAHL_FRAMEWORKS_PYTHON"):
        return given
    if not FRAMEWORKS.exists():
        raise NotInstalled("no torch with transformers: set AMDAHL_FRAMEWORKS_PYTHON")
    done = subprocess.run([sys.executable, FRAMEWORKS, "--path"], text=True, capture_output=True,
                          timeout=60)
    if done.returncode:
        raise NotInstalled("no torch with transformers: run `make frameworks`")
    return done.stdout.strip()


def lm_eval_folder(python: str) -> Path:
    """Its path, for PYTHONPATH; raises NotInstalled with the reason."""
    folder = ROOT / "build" / LM_EVAL.replace("==", "-")
    if folder.exists():
        return folder
    partial = folder.with_name(f"{folder.name}.{os.getpid()}.tmp")
    command = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
               "--no-deps", "--target", partial, LM_EVAL, *REQUIREMENTS]
    try:
        done = subprocess.run(command, text=True, capture_output=True, timeout=INSTALL_SECONDS_MAX)
        if done.returncode:
            raise NotInstalled(f"pip (is PyPI reachable?): {done.stderr.strip()[-300:]}")
        partial.rename(folder)
    except subprocess.TimeoutExpired as error:
        raise NotInstalled(f"pip took more than {INSTALL_SECONDS_MAX} s") from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return folder


if __name__ == "__main__":
    print(lm_eval_folder(frameworks_python()))

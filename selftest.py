"""The self-test's command line: `python selftest.py 23`, from any folder, with any Python.

Works in the environment that it runs in when that has what the course needs, else in `.venv`,
which is built when it is not there. Old Pythons must be able to read this: see `shared.bootstrap`.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent
if str(ROOT) not in sys.path:  # python -P, or python -I
    sys.path.insert(0, str(ROOT))

from shared.bootstrap import has_packages, run_in_venv  # noqa: E402

if __name__ == "__main__":
    if not has_packages():
        run_in_venv(sys.argv)
    from shared.selftest.cli import main

    sys.exit(main())

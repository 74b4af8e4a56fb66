"""Run the security tests of CI: malicious files and names.

Pickles inside arrays, archives, stores, tables and models; bombs that unpack to gigabytes, read in a process with
little memory; archives with members named ``../../x``; scripts in ids, labels, class names, method names and names of
data sets, looked for by a parser and run in a browser; control characters printed by the commands.
"""

import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from _record import ROOT, quick, record

FILES = {
    "test_security": "pickles, bombs, paths",
    "test_security_names": "names in pages and on a terminal",
    "test_io_malformed": "malformed and hostile matrices",
    "test_security_models": "numbers of models that compiled code reads",
    "test_cli_outputs": "outputs, terminals and spreadsheets",
    "test_files": "devices, links, modes and owners",
    "test_persistence": "malformed and hostile models",
    "test_fuzz": "what fuzzing found",
}


def main():
    items, failures, start = [], [], time.monotonic()
    for name, about in FILES.items():
        with tempfile.TemporaryDirectory() as folder:
            report = Path(folder) / "report.xml"
            command = [sys.executable, "-m", "pytest", "-q", f"tests/{name}.py", f"--junitxml={report}"]
            command += ["-m", "not slow"] if quick() else []
            subprocess.run([*command, "-p", "no:cacheprovider"], cwd=ROOT, capture_output=True)
            cases = list(ElementTree.parse(report).iter("testcase"))
        failed = [case.get("name") for case in cases if {"failure", "error"} & {part.tag for part in case}]
        skipped = sum("skipped" in {part.tag for part in case} for case in cases)
        items.append({"tests": about, "number": len(cases), "skipped": skipped, "failures": len(failed)})
        failures += [{"file": name, "test": test} for test in failed]
    total, seconds = sum(item["number"] for item in items), round(time.monotonic() - start)
    record("security", summary=f"{total} tests in {seconds} s.", items=items, failures=failures, seconds=seconds)
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())

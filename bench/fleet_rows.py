"""Rows about a fleet of 10,000 nodes and 100,000 pods: our cache against client-go's informers, and the product over the twin."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request

from fleet import Fleet, Lag
from lib import BINARY, ROOT, TOKEN, Api, cpu_seconds, end, memory_mb, row, started

FLEET_NODES, FLEET_PODS = (int(n) for n in os.environ.get("BENCH_FLEET", "10000,100000").split(","))
ALLOWED_MB = (FLEET_PODS * 1.2 + FLEET_NODES * 4) / 1024
WHAT = f"{FLEET_NODES:,} nodes and {FLEET_PODS:,} pods"
EVENTS = 20_000


def informer_programs():
    subprocess.run(["ninja", "-C", "build/release", "--quiet", "bench_kube_cache"], cwd=ROOT, check=True)
    peer = ROOT / "build/peers/clientgo-informer"
    peer.parent.mkdir(parents=True, exist_ok=True)
    go = next(p for p in (shutil.which("go"), "/usr/local/go/bin/go", str(ROOT / ".venv/bin/go")) if p and os.path.exists(p))
    subprocess.run([go, "build", "-mod=readonly", "-o", str(peer), "."], cwd=ROOT / "bench/clientgo", check=True)
    return str(ROOT / "build/release/bench/bench_kube_cache"), str(peer)


def informer(command, token, change):
    """The two lines of one of the informer programs: after its sync, and after the changes that `change` begins."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, "KUBE_TOKEN": token})
    synced = json.loads(process.stdout.readline())
    if (synced["nodes"], synced["pods"]) < (FLEET_NODES, FLEET_PODS * 99 // 100):
        raise SystemExit(f"an informer has not seen all: {synced}")
    change()
    followed = json.loads(process.stdout.readline())
    end(process)
    return synced, followed


def compare(server, ours, theirs):
    (synced, followed), (their_synced, their_followed) = ours, theirs
    row(f"CPU to list and sync {WHAT} of {server} against client-go", f"{synced['cpu_seconds']:.2f} s", f"{their_synced['cpu_seconds']:.2f} s",
        synced["cpu_seconds"] / their_synced["cpu_seconds"], 0.5)
    row(f"memory of {WHAT} of {server} against client-go", f"{synced['memory_mb']:.0f} MB", f"{their_synced['memory_mb']:.0f} MB",
        synced["memory_mb"] / their_synced["memory_mb"], 0.5)
    each, other = (f["cpu_seconds"] / f["events"] * 1e6 for f in (followed, their_followed))
    row(f"CPU per change of a pod of {server} against client-go", f"{each:.1f} µs", f"{other:.1f} µs", each / other, 0.5)
    row(f"list and sync of {server} against 10 s", f"{synced['seconds']:.1f} s", "10 s", synced["seconds"] / 10, 1)
    row(f"memory of the cache of {server} against 1.2 KB a pod and 4 KB a node", f"{synced['memory_mb']:.0f} MB", f"{ALLOWED_MB:.0f} MB", synced["memory_mb"] / ALLOWED_MB, 1)


def kube_cache():
    """Our cache of nodes and pods against client-go's informers, on a server that gives templates of real objects as fast as it can."""
    ours, peer = informer_programs()
    server, _, line = started([sys.executable, "bench/kube_server.py", "--nodes", str(FLEET_NODES), "--pods", str(FLEET_PODS)], '"ready"')
    url = json.loads(line)["ready"]

    def change():
        urllib.request.urlopen(urllib.request.Request(f"{url}/bench/changes?count={EVENTS}&rate=0", method="POST"), timeout=30).read()

    try:
        compare("templates", informer([ours, url + "/kube", str(EVENTS)], "", change), informer([peer, "-url", url + "/kube", "-events", str(EVENTS)], "", change))
    finally:
        end(server)


def fleet_latency():
    """The twin with the fleet: the informer programs, then the product in a process of its own, calm and with 1,000 pods changing a second."""
    ours, peer = informer_programs()
    fleet = Fleet(FLEET_NODES, FLEET_PODS)
    try:
        row(f"the twin: {WHAT} made, scheduled and started", f"{fleet.filled:.0f} s", f"{memory_mb(fleet.process.pid):.0f} MB", 0)

        def change():
            fleet.churn(1000, EVENTS / 1000 + 5)

        mine = informer([ours, fleet.kube, str(EVENTS), fleet.ca], fleet.token, change)
        fleet.settle()
        compare("the twin", mine, informer([peer, "-url", fleet.kube, "-ca", fleet.ca, "-events", str(EVENTS)], fleet.token, change))
        fleet.settle()
        product_rows(fleet)
    finally:
        fleet.end()


def product_rows(fleet):
    folder = tempfile.mkdtemp(prefix="bench-")
    process, _, line = started([BINARY, "serve", "--no-twin", "--listen", "127.0.0.1:0", "--data", folder, "--rate-queries", "0"], '"ready"', {**fleet.keys, "INSTANTSTART_TOKEN": TOKEN})
    console = json.loads(line)["console"]
    try:
        before, began = memory_mb(process.pid), time.perf_counter()
        cluster = Api(console + "/api/v1")
        wait_for_sync(cluster)
        seconds = time.perf_counter() - began
        row("the product's first list and sync of the twin's fleet, AWS's nodes too, against 10 s", f"{seconds:.1f} s", "10 s", seconds / 10, 1)
        time.sleep(5)  # the memory of reading is given back
        grown = memory_mb(process.pid) - before
        cluster("GET", "/clusters/fleet")  # whoever asks first after a pause pays for a fresh look; the rows are about those who ask all the time
        row("memory of the product for the fleet against 1.2 KB a pod and 4 KB a node", f"{grown:.0f} MB", f"{ALLOWED_MB:.0f} MB", grown / ALLOWED_MB, 1)
        latency_row(console, process, 20, "no changes", 2)
        lag = Lag(fleet, console)
        fleet.churn(1000, 62)
        latency_row(console, process, 60, "1,000 changes of pods a second", 5)
        behind = lag.stop()
        lag_rows(fleet, lag, behind)
        grown = memory_mb(process.pid) - before
        row("memory of the product after the changes", f"{grown:.0f} MB", f"{ALLOWED_MB:.0f} MB", grown / ALLOWED_MB, 1)
    finally:
        end(process)
        shutil.rmtree(folder)


def wait_for_sync(cluster):
    until = time.time() + 120
    while True:
        seen = cluster("GET", "/clusters/fleet")["cluster"]
        nodes, known = seen.get("nodes", {}), seen.get("conditions", [])
        if nodes.get("ready") == FLEET_NODES and not any(c["type"] == "KubernetesSyncing" for c in known):
            return
        if time.time() > until:
            raise SystemExit(f"the product has not seen the fleet: {nodes} {known}")
        time.sleep(0.1)


def latency_row(console, process, seconds, changes, limit_ms):
    before = cpu_seconds(process.pid)
    asking = subprocess.Popen([sys.executable, "bench/steady.py", console, "/api/v1/clusters/fleet", "200", str(seconds)], cwd=ROOT, stdout=subprocess.PIPE, text=True,
                              env={**os.environ, "INSTANTSTART_TOKEN": TOKEN})
    out, _ = asking.communicate()
    if asking.returncode != 0:
        raise SystemExit("the steady requests failed")
    told = json.loads(out)
    spent = (cpu_seconds(process.pid) - before) / told["count"] * 1000
    row(f"cluster.get at {FLEET_NODES:,} nodes, p99 at 200 requests/s, {changes}", f"{told['p99_ms']:.2f} ms", f"{limit_ms} ms", told["p99_ms"] / limit_ms, 1)
    row(f"  its median; the product's CPU in that time by request; with {changes}", f"{told['p50_ms']:.2f} ms", f"{spent:.2f} ms", told["p50_ms"] / spent)


def lag_rows(fleet, lag, behind):
    time.sleep(3)
    quarter = len(behind) // 4
    first, last = (sum(part) / len(part) for part in (behind[quarter:2 * quarter], behind[-quarter:]))
    row("changes of pods not yet seen by the product, mean of the last 15 s against 1,000 (a second's)", f"{last:.0f}", "1000", last / 1000, 1)
    row("  growth of that since 15 to 30 s, against 100", f"{last - first:.0f}", "100", (last - first) / 100, 1)
    row("changes not seen three seconds after the last one", str(lag.now()), "0", lag.now(), 0)

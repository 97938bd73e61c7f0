// Starts the product on free ports over its twin, for the JavaScript suites; counts checks in the way tools/test.py reads.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { createInterface } from "node:readline";

export const kToken = "suite-token-0123456789";
let passed = 0;
let failed = 0;

export function check(what, good, seen) {
  good ? ++passed : ++failed;
  console.log(`${good ? "ok    " : "FAIL  "}${what}${good ? "" : `   saw: ${String(typeof seen === "object" ? JSON.stringify(seen) : seen).slice(0, 600)}`}`);
  return good;
}

export function finish() {
  console.log(`${passed} passed, ${failed} failed`);
  process.exitCode = failed ? 1 : 0;
}

// What was applied to the twin's clusters, for tests/conformance/emitted.py, which asks a real API server for its opinion.
async function keepApplied(twin) {
  const lines = new Set();
  for (let since = 0, page; ; since = page.next) {
    page = await (await fetch(`${twin}/_twin/calls?mutating=true&since=${since}`)).json();
    if (page.calls.length === 0) break;
    for (const { service, status, parameters } of page.calls) {
      if (service !== "kubernetes" || !parameters.body || status >= 300) continue;
      const object = JSON.parse(parameters.body);
      if (parameters.namespace) object.metadata.namespace ??= parameters.namespace;
      lines.add(JSON.stringify({ object }));
    }
  }
  if (lines.size === 0) return;
  mkdirSync("build/test-logs/emitted", { recursive: true });
  writeFileSync(`build/test-logs/emitted/${basename(process.argv[1])}.jsonl`, [...lines].sort().join("\n") + "\n");
}

export async function start(binary, { speed = 600, args = [] } = {}) {
  const folder = mkdtempSync(join(tmpdir(), "instantstart-"));
  mkdirSync("build/test-logs", { recursive: true });
  const log = openSync(`build/test-logs/server-${process.pid}.log`, "w");
  const child = spawn(
    binary,
    ["serve", "--twin", "--listen", "127.0.0.1:0", "--twin-aws", "127.0.0.1:0", "--twin-kube", "127.0.0.1:0", "--twin-speed", String(speed), "--data", folder, ...args],
    { env: { ...process.env, INSTANTSTART_TOKEN: kToken }, stdio: ["ignore", "pipe", log] },
  );
  process.on("exit", () => child.kill("SIGKILL"));
  const ready = await new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error("no ready line within 60 s")), 60_000);
    child.once("exit", (code) => reject(new Error(`the product ended with ${code}`)));
    createInterface({ input: child.stdout }).on("line", (line) => {
      if (!line.includes('"ready"')) return;
      clearTimeout(timer);
      resolve(JSON.parse(line));
    });
  });
  const api = async (method, path, body) => {
    const answer = await fetch(ready.console + "/api/v1" + path, {
      method,
      headers: { Authorization: `Bearer ${kToken}`, "Content-Type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: answer.status, body: await answer.json() };
  };
  const stop = async () => {
    await keepApplied(ready.twin_aws).catch(() => {}); // the twin may have been killed by the test
    const gone = new Promise((resolve) => child.once("exit", resolve));
    child.removeAllListeners("exit");
    child.kill("SIGTERM");
    await Promise.race([new Promise((resolve) => child.once("exit", resolve)), gone, new Promise((resolve) => setTimeout(resolve, 15_000))]);
    rmSync(folder, { recursive: true, force: true });
  };
  return { ready, url: ready.console, api, stop, folder };
}

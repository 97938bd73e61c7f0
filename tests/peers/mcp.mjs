// The official MCP TypeScript SDK client and the inspector's command line against the product: HTTP and stdio, both eras.
import { execFileSync } from "node:child_process";

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

import { check, finish, kToken, start } from "../support/product.mjs";

const binary = process.argv[2] ?? "build/release/instantstart";
const product = await start(binary);

async function walk(what, transport) {
  const client = new Client({ name: "peer", version: "1" });
  await client.connect(transport);
  const { tools } = await client.listTools();
  check(`${what}: the SDK lists the tools`, tools.length > 15 && tools.some((tool) => tool.name === "cluster_launch"), tools.length);
  const environment = await client.callTool({ name: "environment_get", arguments: {} });
  check(`${what}: the SDK calls a query`, !environment.isError && environment.structuredContent?.environment?.account === "111122223333", environment);
  const refused = await client.callTool({ name: "cluster_create", arguments: { name: "Bad Name" } });
  check(`${what}: wrong arguments are a tool error with the field`, refused.isError && JSON.stringify(refused.structuredContent).includes("/name"), refused);
  let unknown = false;
  try {
    const answer = await client.callTool({ name: "no_such_tool", arguments: {} });
    unknown = answer.isError === true;
  } catch (error) {
    unknown = String(error).includes("-32602");
  }
  check(`${what}: an unknown tool is refused`, unknown);
  await client.close();
}

async function modern() {
  const meta = { "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}, "io.modelcontextprotocol/clientInfo": { name: "peer", version: "1" } };
  const post = async (method, params = {}) => {
    const answer = await fetch(product.url + "/mcp", {
      method: "POST",
      headers: {
        Authorization: `Bearer ${kToken}`, "Content-Type": "application/json", Accept: "application/json, text/event-stream",
        "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method, ...(params.name ? { "Mcp-Name": params.name } : {}),
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { ...params, _meta: meta } }),
    });
    return { status: answer.status, body: await answer.json() };
  };
  const discover = await post("server/discover");
  check("modern: discover names the revision", discover.body.result?.supportedVersions?.includes("2026-07-28"), discover);
  const list = await post("tools/list");
  check("modern: tools are listed", list.body.result?.tools?.length > 15, list);
  const called = await post("tools/call", { name: "environment_get", arguments: {} });
  check("modern: a tool answers completely", called.body.result?.resultType === "complete" && !called.body.result.isError, called);
}

function inspector(what, words) {
  try {
    const text = execFileSync("node", ["tests/peers/node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js", ...words], { encoding: "utf8", timeout: 60_000, env: { ...process.env, INSTANTSTART_TOKEN: kToken, INSTANTSTART_URL: product.url } });
    check(`${what}: the inspector lists the tools`, text.includes("cluster_launch"), text.slice(0, 300));
  } catch (error) {
    check(`${what}: the inspector lists the tools`, false, error.stderr ?? error);
  }
}

try {
  await walk("HTTP", new StreamableHTTPClientTransport(new URL(product.url + "/mcp"), { requestInit: { headers: { Authorization: `Bearer ${kToken}` } } }));
  await walk("stdio", new StdioClientTransport({ command: binary, args: ["mcp"], env: { ...process.env, INSTANTSTART_TOKEN: kToken, INSTANTSTART_URL: product.url } }));
  await modern();
  inspector("HTTP", ["--cli", product.url + "/mcp", "--transport", "http", "--method", "tools/list", "--header", `Authorization: Bearer ${kToken}`]);
  const given = ["-e", `INSTANTSTART_URL=${product.url}`, "-e", `INSTANTSTART_TOKEN=${kToken}`];
  inspector("stdio", ["--cli", ...given, binary, "mcp", "--method", "tools/list"]);
} catch (error) {
  check(`the walk goes on to its end: ${error}`, false, error?.stack);
} finally {
  await product.stop();
}
finish();

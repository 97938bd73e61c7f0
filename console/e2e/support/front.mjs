// Serves a built console from a folder; what lies under /api goes to `answer` (a mock) or, unchanged, to another server.
import { createReadStream, existsSync, statSync } from "node:fs";
import { createServer, request } from "node:http";
import { connect } from "node:net";
import { extname, join, normalize } from "node:path";

const kTypes = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml" };

function serveFile(folder, path, response) {
  const wanted = join(folder, normalize(path));
  const file = existsSync(wanted) && statSync(wanted).isFile() ? wanted : join(folder, "index.html");
  response.writeHead(200, { "Content-Type": kTypes[extname(file)] ?? "application/octet-stream" });
  createReadStream(file).pipe(response);
}

function pass(to, incoming, response) {
  const outgoing = request(
    { host: to.hostname, port: to.port, path: incoming.url, method: incoming.method, headers: incoming.headers },
    (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    },
  );
  outgoing.on("error", () => response.writeHead(502).end());
  incoming.pipe(outgoing);
}

// A WebSocket's upgrade, byte for byte.
function passUpgrade(to, incoming, socket, head) {
  const behind = connect(to.port, to.hostname, () => {
    const lines = incoming.rawHeaders.reduce((text, each, index) => text + each + (index % 2 ? "\r\n" : ": "), "");
    behind.write(`${incoming.method} ${incoming.url} HTTP/1.1\r\n${lines}\r\n`);
    behind.write(head);
    socket.pipe(behind).pipe(socket);
  });
  for (const each of [socket, behind]) each.on("error", () => (socket.destroy(), behind.destroy()));
}

export async function front(folder, { answer, server }) {
  const to = server && new URL(server);
  const listener = createServer((incoming, response) => {
    if (!incoming.url.startsWith("/api/")) return serveFile(folder, incoming.url.split("?")[0], response);
    return to ? pass(to, incoming, response) : answer(incoming, response);
  });
  listener.on("upgrade", (incoming, socket, head) => (to ? passUpgrade(to, incoming, socket, head) : socket.destroy()));
  await new Promise((resolve) => listener.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${listener.address().port}`,
    stop: () => new Promise((resolve) => (listener.close(resolve), listener.closeAllConnections())),
  };
}

// The peer of the start and memory rows: an Express hello server, as small as they come.
import { createRequire } from "node:module";
const express = createRequire(new URL("../tests/peers/package.json", import.meta.url))("express");
const app = express();
app.get("/healthz", (_, response) => response.json({ ok: true }));
const server = app.listen(0, "127.0.0.1", () => console.log(JSON.stringify({ event: "ready", port: server.address().port })));

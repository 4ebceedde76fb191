/** Connects to many servers, and sends how many bytes each connection holds while it is idle. */
import { once } from "node:events";
import { connect } from "node:net";
import { median } from "../support/rounds.js";
import { expectSame } from "../support/bar.js";
import { ourClient } from "./clients.js";

const [who = "", origin = "", count = ""] = process.argv.slice(2);
const { hostname, port } = new URL(origin);
const kept: unknown[] = [];

const connections = Number(count);
/** A single one is lost in what else comes and goes. */
const repeats = Math.ceil(30 / connections);
const shares: number[] = [];

// What is loaded and compiled once is nobody's share.
for (let nth = 0; nth < 50; nth += 1) kept.push(await open("/servers/warm"));
for (let repeat = 0; repeat < repeats; repeat += 1) {
  const before = await held();
  for (let nth = 0; nth < connections; nth += 1) kept.push(await open(`/servers/${String(nth)}`));
  shares.push(((await held()) - before) / connections);
}
expectSame("connections", kept.length, connections * repeats + 50);
process.send?.(median(shares), () => process.exit(0));

/** What keeps a connection to one server. */
async function open(path: string): Promise<unknown> {
  if (who === "socket") {
    const socket = connect(Number(port), hostname);
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "server/discover", params: {} });
    socket.write(`POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${String(body.length)}\r\n\r\n${body}`);
    const [chunk]: unknown[] = await once(socket, "data");
    expectSame("answer", String(chunk).startsWith("HTTP/1.1 200"), true);
    return socket;
  }
  const client = ourClient(origin + path);
  const { supportedVersions } = await client.discover();
  expectSame("version", supportedVersions[0], "2026-07-28");
  return client;
}

/** Bytes on the heap and beside it, once all that can go has gone. */
async function held(): Promise<number> {
  for (let turn = 0; turn < 3; turn += 1) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    globalThis.gc?.();
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterEach, expect, it } from "vitest";
import { RelayParties, requestFor } from "./relay-parties.js";

const parties = new RelayParties();
afterEach(parties.opened.close);

/** Hands a connection on byte for byte, and keeps what passed. */
async function tap(port: number) {
  const passed: Buffer[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(port);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.on("data", (chunk) => passed.push(chunk));
      from.on("error", () => to.destroy());
      from.pipe(to);
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const close = async (): Promise<void> => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, "close");
  };
  parties.opened.push({ close });
  const address = server.address();
  const tapPort = typeof address === "object" && address !== null ? address.port : 0;
  return { url: `http://127.0.0.1:${String(tapPort)}`, text: () => Buffer.concat(passed).toString("latin1") };
}

it("H-7: a guest's process never has the account's credential: not on its wire, in its heap, nor in its environment", async () => {
  const credential = `credential-${crypto.randomUUID()}`;
  const gateway = await parties.gateway();
  const { relay, lease } = await parties.desktop(gateway, "TCP", {}, { authorize: () => ({ Cookie: credential }) });
  const { bearer } = lease();
  const { address } = relay;
  const wire = await tap("url" in address ? Number(new URL(address.url).port) : 0);
  const heapFile = join(await parties.folder(), "guest.heapsnapshot");
  const guest = spawn(process.execPath, ["build/test/programs/relay-guest.js"], {
    stdio: ["pipe", "pipe", "inherit"],
    env: { PATH: process.env["PATH"] },
  });
  guest.stdin.end(JSON.stringify({ relay: { url: wire.url }, bearer, request: requestFor("docs"), heapFile }));
  const [output] = await Promise.all([text(guest.stdout), once(guest, "exit")]);
  expect(JSON.parse(output)).toMatchObject({
    tools: ["echo"],
    result: { content: [{ type: "text", text: '{"from":"guest"}' }] },
    refused: { code: "relay_refused", delivery: "not_sent", details: { reason: "not_leased" } },
  });
  // It was used, and each search would find what is there.
  expect(gateway.calls.map(({ request }) => request.headers.cookie)).toEqual([credential, credential]);
  const heap = await readFile(heapFile, "latin1");
  for (const [place, found] of [
    ["the wire", wire.text()],
    ["the heap", heap],
  ] as const) {
    expect(found.includes(bearer), place).toBe(true);
    expect(found.includes(credential), place).toBe(false);
    expect(found.includes(new URL(gateway.url).host), place).toBe(false);
  }
  expect(output).not.toContain(credential);
});

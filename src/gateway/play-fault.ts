import { type ServerResponse, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { sendEmpty } from "../serving/index.js";
import type { Clock } from "../transport/index.js";
import type { RequestFault } from "./faults.js";

const PORTAL_PAGE = "<!doctype html><title>Sign in</title><p>Sign in to use this network.</p>\n";

/** Plays a fault on a request. Resolves to whether it was the whole answer, or the caller left meanwhile. */
export async function playFault(fault: RequestFault, response: ServerResponse, clock: Clock): Promise<boolean> {
  switch (fault.kind) {
    case "delay":
      await delay(fault.ms, response, clock);
      return response.destroyed;
    case "status":
      sendEmpty(response, fault.status);
      return true;
    case "drop_connection":
      response.destroy();
      return true;
    case "captive_portal":
      if (fault.location === undefined) {
        response.writeHead(200, { "Content-Type": "text/html; charset=utf-8" });
        response.end(PORTAL_PAGE);
      } else sendEmpty(response, 302, { Location: fault.location });
      return true;
  }
}

/** The same on a request to speak another protocol: `proceed` is called when the fault lets it through. */
export function playUpgradeFault(fault: RequestFault, socket: Duplex, clock: Clock, proceed: () => void): void {
  switch (fault.kind) {
    case "delay": {
      const cancel = clock.schedule(fault.ms, () => {
        if (!socket.destroyed) proceed();
      });
      socket.once("close", cancel);
      return;
    }
    case "status":
      return refuseUpgrade(socket, fault.status);
    case "drop_connection":
      socket.destroy();
      return undefined;
    case "captive_portal": {
      const { location } = fault;
      if (location === undefined) return refuseUpgrade(socket, 200, ["Content-Type: text/html"], PORTAL_PAGE);
      return refuseUpgrade(socket, 302, [`Location: ${location}`]);
    }
  }
}

/** Answers a request for another protocol without taking it over. */
export function refuseUpgrade(socket: Duplex, status: number, headers: readonly string[] = [], body = ""): void {
  const reason = STATUS_CODES[status] ?? "";
  const head = [
    `HTTP/1.1 ${String(status)} ${reason}`,
    "Connection: close",
    `Content-Length: ${String(Buffer.byteLength(body))}`,
    ...headers,
  ];
  // Nobody reads from it any more, so that nobody would see it end.
  socket.once("finish", () => socket.destroy());
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`);
}

/** Waits, or stops waiting when the caller leaves. */
function delay(ms: number, response: ServerResponse, clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    const cancel = clock.schedule(ms, resolve);
    response.once("close", () => {
      cancel();
      resolve();
    });
  });
}

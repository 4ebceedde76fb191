import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { LoginGuard, SnapshotClient } from "../../../src/auth-projection/index.js";
import { ControlPlane } from "./control-plane.js";

const MIB = 1024 * 1024;

let plane: ControlPlane;
let client: SnapshotClient;
const never = new AbortController().signal;

beforeEach(async () => {
  plane = await ControlPlane.listen();
  const logins = new LoginGuard({ authorize: () => ({ Cookie: "session=s3cr3t" }) });
  client = new SnapshotClient({ controlBase: `${plane.base}/api/desktop`, login: logins.signIn("acc"), logins });
});

afterEach(async () => {
  await client.close();
  await plane.close();
});

describe("P-1: snapshots over HTTP", () => {
  it("P-1: asks with the account's credentials, and reads the answer", async () => {
    plane.json({ revision: "12", epoch: "e", connectors: [{ connectorId: "github", state: "disconnected" }] });
    const snapshot = await client.fetch(never);
    expect(snapshot).toMatchObject({ revision: 12n, epoch: "=e", entries: [{ quarantined: "missing_member" }] });
    expect(plane.requests).toMatchObject([
      {
        method: "GET",
        url: "/api/desktop/v1/connector-authorizations/snapshot",
        headers: { accept: "application/json", cookie: "session=s3cr3t" },
      },
    ]);
  });

  it.each([
    ["broken JSON", '{"revision":1,'],
    ["nothing", ""],
    ["a sign-in page", "<!doctype html>"],
  ])("P-1: %s is invalid_snapshot", async (_, body) => {
    plane.answer = (response) => response.end(body);
    await expect(client.fetch(never)).rejects.toMatchObject({ code: "invalid_snapshot", delivery: "answered" });
  });

  it.each([401, 403])("P-1: %i is account_not_ready", async (status) => {
    plane.json({ message: "sign in" }, status);
    await expect(client.fetch(never)).rejects.toMatchObject({ code: "account_not_ready", details: { status } });
  });

  it("P-1: another failure is not", async () => {
    plane.json({ message: "later" }, 503);
    await expect(client.fetch(never)).rejects.toMatchObject({
      code: "unexpected_answer",
      delivery: "unknown",
      details: { status: 503, mediaType: "application/json", snippet: '{"message":"later"}' },
    });
  });

  it.each([301, 302, 303, 307, 308])(
    "P-1: a redirect by %i is not followed, on the same origin either",
    async (status) => {
      const other = await ControlPlane.listen();
      for (const location of [`${other.base}/v1/?token=t0ken`, "/elsewhere"]) {
        plane.answer = (response) => response.writeHead(status, { location }).end();
        const error: unknown = await client.fetch(never).catch((caught: unknown) => caught);
        expect(error).toMatchObject({ code: "redirect_refused", delivery: "answered", details: { status } });
        expect(JSON.stringify(error)).not.toContain("t0ken");
      }
      expect([plane.requests.length, other.requests.length]).toEqual([2, 0]);
      await other.close();
    },
  );

  it("P-1: 4 MiB and no more, announced or not", async () => {
    const padded = (bytes: number): string => {
      const body = '{"revision":1,"connectors":[]}';
      return body + " ".repeat(bytes - body.length);
    };
    plane.answer = (response) => response.end(padded(4 * MIB));
    expect((await client.fetch(never)).revision).toBe(1n);
    plane.answer = (response) => response.end(padded(4 * MIB + 1));
    await expect(client.fetch(never)).rejects.toMatchObject({ code: "limit_exceeded", details: { limit: 4 * MIB } });
    plane.answer = (response) => {
      response.write(padded(3 * MIB));
      response.end(" ".repeat(2 * MIB));
    };
    await expect(client.fetch(never)).rejects.toMatchObject({ code: "limit_exceeded" });
  });

  it("P-1: an answer that is cut is a failure, and the next fetch is not harmed", async () => {
    plane.answer = (response) => {
      response.writeHead(200, { "content-length": 100 });
      response.write('{"revision":1,"connectors":[]}', () => response.destroy());
    };
    await expect(client.fetch(never)).rejects.toMatchObject({ code: "connection_broken", delivery: "unknown" });
    plane.json({ revision: 2, connectors: [] });
    expect((await client.fetch(never)).revision).toBe(2n);
  });

  it("P-1: a control plane that is not there is a failure", async () => {
    await plane.close();
    await expect(client.fetch(never)).rejects.toMatchObject({ code: "connect_failed", delivery: "not_sent" });
    plane = await ControlPlane.listen();
  });

  it("P-8: closing ends what runs and leaves no connection", async () => {
    plane.answer = () => undefined;
    const ended = expect(client.fetch(never)).rejects.toMatchObject({ code: "cancelled" });
    await expect.poll(() => plane.requests.length).toBe(1);
    await client.close();
    await ended;
    await expect.poll(() => plane.connections()).toBe(0);
  });
});

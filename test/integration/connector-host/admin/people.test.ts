import { createServer, type ServerResponse } from "node:http";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import {
  connectToHost,
  createRegistrationMemory,
  type RegistrationStore,
} from "../../../../src/connector-host/index.js";
import { arrived, HostParties } from "../host-parties.js";
import { timesAsked } from "../permission-parties.js";
import { adminHost, ask, reach } from "./admin-parties.js";

const parties = new HostParties();
afterEach(parties.opened.close);

const JSON_BODY = { "Content-Type": "application/json" };

/** A host's refusal of what a person has to agree to. */
const QUESTION = {
  error: { code: "terminal_required", message: "m", delivery: "not_sent", details: { action: "Do it." } },
  confirmation: { id: "c", question: "Do it." },
};

/** A host with a registration that is paused, and whose store can be made to wait. */
async function registered() {
  const memory = createRegistrationMemory();
  const held = { isOn: false, puts: [] as (() => void)[] };
  const registrationStore: RegistrationStore = {
    ...memory,
    async put(registration) {
      if (held.isOn) await new Promise<void>((resolve) => held.puts.push(resolve));
      await memory.put(registration);
    },
  };
  const party = await adminHost(parties, { registrationStore });
  const settings = { endpoint: "http://127.0.0.1:9/mcp" };
  await party.host.connectors.registrations.create({ slug: "docs", displayName: "Docs", settings });
  const release = (): void => {
    held.isOn = false;
    for (const put of held.puts) put();
  };
  return { ...party, held, release };
}

describe("H-33: people who are asked over the control socket", () => {
  it("H-33: what permits less is done at once, what permits more only when a person wants it", async () => {
    const { directory, host } = await adminHost(parties);
    const yes = await reach(parties, directory);
    const no = await reach(parties, directory, () => false);
    await no.admin.setPermission("a", "drop", "ask");
    await no.admin.setNewTools("a", "off");
    await no.admin.setEnabled("a", false);
    expect(no.questions).toEqual([]);
    const before = host.connectors.permissions("a");
    expect(before).toEqual({ newTools: "off", permissions: { drop: "ask" } });
    const refused = { code: "cancelled", delivery: "not_sent", details: { reason: "not_confirmed" } };
    await expect(no.admin.setPermission("a", "drop", "allow")).rejects.toMatchObject(refused);
    await expect(no.admin.setNewTools("a", "ask")).rejects.toMatchObject(refused);
    await expect(no.admin.setEnabled("a", true)).rejects.toMatchObject(refused);
    await expect(no.admin.adminLink()).rejects.toMatchObject(refused);
    expect(no.questions).toHaveLength(4);
    expect(host.connectors.permissions("a")).toEqual(before);
    expect(host.connectors.list()[0]?.enabled).toBe(false);
    await yes.admin.setPermission("a", "drop", "allow");
    await yes.admin.setEnabled("a", true);
    expect(yes.questions).toEqual([
      'Change the permission of the tool "drop" of "a" from ask to allow.',
      'Switch the connector "a" on.',
    ]);
    expect(await yes.admin.permissions("a")).toEqual({ newTools: "off", permissions: { drop: "allow" } });
    expect(host.connectors.list()[0]?.enabled).toBe(true);
  });

  it("H-33: a request that a person has to agree to is refused as it stands, whoever makes it", async () => {
    const { directory, gateway, host } = await adminHost(parties);
    await host.connectors.setPermission("a", "drop", "off");
    const socketPath = join(directory, "control.sock");
    const post = async (verb: string, body: object) => {
      const answer = await ask(
        { socketPath, path: `/v1/admin/${verb}` },
        { method: "POST", headers: JSON_BODY, body: JSON.stringify(body) },
      );
      const parsed: { error?: { code: string }; confirmation?: { id: string } } = JSON.parse(answer.text);
      return { status: answer.status, ...parsed };
    };
    const params = { connectorKey: "a", nativeName: "drop", permission: "allow" };
    const first = await post("set-permission", { params });
    expect(first).toMatchObject({ status: 403, error: { code: "terminal_required", delivery: "not_sent" } });
    const confirmation = first.confirmation?.id ?? "";
    // Good for this request alone, and once.
    expect(await post("set-permission", { params: { ...params, nativeName: "read" }, confirmation })).toMatchObject({
      status: 403,
      error: { code: "terminal_required" },
    });
    expect(await post("test-call", { params: { connectorKey: "a", nativeName: "drop" }, confirmation })).toMatchObject({
      status: 403,
    });
    expect(await post("set-permission", { params, confirmation })).toMatchObject({ status: 403 });
    expect(host.connectors.permissions("a").permissions["drop"]).toBe("off");
    expect(await post("link", { params: {}, confirmation: "" })).toMatchObject({ status: 403 });
    expect(timesAsked(gateway, "a", "tools/call")).toBe(0);
    const again = await post("set-permission", { params });
    expect(await post("set-permission", { params, confirmation: again.confirmation?.id })).toMatchObject({
      status: 200,
    });
    expect(host.connectors.permissions("a").permissions["drop"]).toBe("allow");
  });

  it("H-33: a registration is paused at once, and runs when a person wants it", async () => {
    const { directory, host } = await adminHost(parties);
    await host.connectors.registrations.create({
      slug: "docs",
      displayName: "Docs",
      settings: { endpoint: "http://127.0.0.1:9/mcp" },
    });
    const { admin, questions } = await reach(parties, directory);
    await admin.setRegistrationState("docs", "active");
    expect(questions).toEqual(['Let the registered server "docs" run, as it is configured now.']);
    await admin.setRegistrationState("docs", "paused");
    expect(questions).toHaveLength(1);
    expect(host.connectors.list().find(({ connectorKey }) => connectorKey === "docs")?.paused).toBe(true);
  });

  it("H-33: only true is a yes: whoever asks people by a text may have been told no", async () => {
    const { directory, host } = await adminHost(parties);
    await host.connectors.setPermission("a", "drop", "off");
    for (const said of ["no", 1, {}, undefined, null, false]) {
      // @ts-expect-error As a program without types may do it.
      const connection = await connectToHost({ stateDirectory: directory, confirm: async () => said });
      await expect(connection.admin.setPermission("a", "drop", "ask")).rejects.toMatchObject({
        code: "cancelled",
        delivery: "not_sent",
      });
      await connection.close();
    }
    expect(host.connectors.permissions("a").permissions["drop"]).toBe("off");
  });

  it("H-33: what is decided of a tool as it is needs a person, since a later decision about all others passes it by", async () => {
    const { directory, host } = await adminHost(parties);
    const no = await reach(parties, directory, () => false);
    await expect(no.admin.setPermission("a", "drop", "allow")).rejects.toMatchObject({ code: "cancelled" });
    await expect(no.admin.setNewTools("a", "allow")).rejects.toMatchObject({ code: "cancelled" });
    expect(no.questions).toEqual([
      'Let the tool "drop" of "a" stay at allow, whatever is decided about its other tools.',
      'Let all other tools of "a" stay at allow, whatever its definition says.',
    ]);
    await host.connectors.setNewTools("a", "off");
    expect(host.connectors.permissions("a")).toEqual({ newTools: "off", permissions: {} });
  });

  it("H-33: nobody lets a server run by asking before its pause has come into effect", async () => {
    const { directory, host, held, release } = await registered();
    await host.connectors.registrations.setState("docs", "active");
    const { admin, questions } = await reach(parties, directory);
    // The pause waits for what is being kept before it.
    held.isOn = true;
    const before = host.connectors.setPermission("docs", "x", "allow");
    const pause = host.connectors.registrations.setState("docs", "paused");
    await arrived(held.puts);
    const asked = admin.setRegistrationState("docs", "active");
    // By the time that others were answered, it was read.
    for (let turn = 0; turn < 3; turn += 1) await admin.permissions("a");
    release();
    await Promise.all([before, pause, asked]);
    expect(questions).toEqual([]);
    expect(host.connectors.list().find(({ connectorKey }) => connectorKey === "docs")?.paused).toBe(true);
  });

  it("H-33: who lets a server run, lets that one run that they were asked about", async () => {
    const { directory, host } = await registered();
    const { registrations } = host.connectors;
    const connection = await connectToHost({
      stateDirectory: directory,
      async confirm() {
        await registrations.replaceSettings("docs", { endpoint: "http://127.0.0.1:10/mcp" });
        return true;
      },
    });
    parties.opened.push(connection);
    await expect(connection.admin.setRegistrationState("docs", "active")).rejects.toMatchObject({
      code: "terminal_required",
      delivery: "not_sent",
    });
    expect(host.connectors.list().find(({ connectorKey }) => connectorKey === "docs")?.paused).toBe(true);
  });

  it("H-33: a change is sent once, even if its connection breaks; what only reads is asked again", async () => {
    const directory = await parties.folder();
    const asked: string[] = [];
    const server = createServer((incoming, response) => {
      asked.push(incoming.url ?? "");
      if (incoming.url !== "/v1/status") response.destroy();
      else {
        const host = { name: "desk", version: "1" };
        response.end(JSON.stringify({ host, processId: 1, nodeVersion: "v20", url: "", connectors: [] }));
      }
    });
    await new Promise<void>((resolve) => server.listen(join(directory, "control.sock"), resolve));
    parties.opened.push(server);
    const { admin } = await reach(parties, directory);
    await expect(admin.setEnabled("a", false)).rejects.toMatchObject({
      code: "connection_broken",
      delivery: "unknown",
    });
    await expect(admin.view()).rejects.toMatchObject({ code: "connection_broken", delivery: "unknown" });
    expect(asked).toEqual(["/v1/status", "/v1/admin/set-enabled", "/v1/admin/view", "/v1/admin/view"]);
  });

  it.each([
    ["nothing is answered", (response: ServerResponse) => response.destroy(), "connection_broken", "unknown"],
    [
      "half of it is answered",
      (response: ServerResponse) => {
        response.writeHead(200, { "Content-Length": "100" });
        response.write('{"resu', () => response.destroy());
      },
      "connection_broken",
      "unknown",
    ],
    ["the answer is no JSON", (response: ServerResponse) => response.end("ok"), "invalid_answer", "answered"],
    ["it says no result", (response: ServerResponse) => response.end("{}"), "invalid_answer", "answered"],
    [
      "its failure can't be read",
      (response: ServerResponse) => response.writeHead(409).end('{"error":{"code":"odd"}}'),
      "unexpected_answer",
      "answered",
    ],
    [
      "it asks a second time",
      (response: ServerResponse) => response.writeHead(403).end(JSON.stringify(QUESTION)),
      "terminal_required",
      "not_sent",
    ],
  ])(
    "H-33: a change that a person agreed to is sent once more, and no more, when %s",
    async (_, fault, code, delivery) => {
      const directory = await parties.folder();
      const asked: unknown[] = [];
      const server = createServer((incoming, response) => {
        if (incoming.url === "/v1/status") {
          const host = { name: "desk", version: "1" };
          response.end(JSON.stringify({ host, processId: 1, nodeVersion: "v20", url: "", connectors: [] }));
          return;
        }
        let body = "";
        incoming.on("data", (chunk: Buffer) => (body += chunk.toString()));
        incoming.on("end", () => {
          asked.push(JSON.parse(body));
          if (asked.length === 1) response.writeHead(403).end(JSON.stringify(QUESTION));
          else fault(response);
        });
      });
      await new Promise<void>((resolve) => server.listen(join(directory, "control.sock"), resolve));
      parties.opened.push(server);
      const { admin, questions } = await reach(parties, directory);
      await expect(admin.setEnabled("a", true)).rejects.toMatchObject({ code, delivery });
      const params = { connectorKey: "a", enabled: true };
      expect(asked).toEqual([{ params }, { params, confirmation: "c" }]);
      expect(questions).toEqual(["Do it."]);
    },
  );
});

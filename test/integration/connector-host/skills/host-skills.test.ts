import { rm } from "node:fs/promises";
import { afterEach, describe, expect, it } from "vitest";
import type { SkillFolders } from "../../../../src/connector-host/index.js";
import { agentOf, becomes, HostParties, statesOf } from "../host-parties.js";
import { SkillFolder } from "./skill-folder.js";

const parties = new HostParties();
afterEach(parties.opened.close);

async function folderWith(...names: readonly string[]): Promise<SkillFolder> {
  const folder = await SkillFolder.make();
  parties.opened.push(folder);
  for (const name of names) await folder.skill(name, name);
  return folder;
}

describe("H-29: the skills of a host's connectors", () => {
  it("H-29, H-9: are read when a connector is activated, and gone with its route", async () => {
    const gateway = await parties.gateway({ b: 1, a: 1, none: 1 });
    const folder = await folderWith("mail");
    const { host } = await parties.host(gateway, ["b", "a", "none"], { skills: { a: folder.path, b: folder.path } });
    expect(host.skills()).toEqual([]);
    host.signIn("ada");
    await becomes(host, { a: "ready", b: "ready", none: "ready" });
    const skills = [{ name: "mail", title: "mail", description: "What mail does.", path: "mail/SKILL.md" }];
    expect(host.skills()).toEqual([
      { connectorKey: "a", root: folder.path, skills },
      { connectorKey: "b", root: folder.path, skills },
    ]);
    // As they were then.
    await folder.skill("later", "later");
    expect(host.skills()[0]?.skills).toEqual(skills);
    await host.connectors.setEnabled("a", false);
    expect(host.skills().map(({ connectorKey }) => connectorKey)).toEqual(["b"]);
    await host.connectors.setEnabled("a", true);
    await becomes(host, { a: "ready", b: "ready", none: "ready" });
    expect(host.skills()[0]?.skills.map(({ name }) => name)).toEqual(["later", "mail"]);
    host.signOut();
    expect(host.skills()).toEqual([]);
  });

  it("H-9: a release with a folder that can't be used is not activated, and its client is closed", async () => {
    const gateway = await parties.gateway({ a: 1, b: 1 });
    const folder = await folderWith("same");
    await folder.skill("other", "same");
    const { host, published } = await parties.host(gateway, ["a", "b"], { skills: { a: folder.path } });
    const failures: unknown[] = [];
    host.events.subscribe((event) => {
      if (event.kind === "failed") failures.push(event.error);
    });
    host.signIn("ada");
    await expect.poll(() => failures.length, { timeout: 10_000 }).toBeGreaterThan(0);
    const message = "The skills of a can't be used: same/SKILL.md has the name same, which other/SKILL.md has.";
    expect(failures[0]).toEqual({ code: "invalid_skills", message });
    await expect.poll(() => statesOf(host), { timeout: 10_000 }).toMatchObject({ b: "ready" });
    expect(host.skills()).toEqual([]);
    expect(published.filter((event) => event.includes(" a"))).toEqual([]);
    const { names } = await agentOf(host).list();
    expect(names).toEqual(["b_echo"]);
    // What was the matter is mended: the next activation has them.
    await rm(folder.at("other"), { recursive: true });
    await host.connectors.setEnabled("a", false);
    await host.connectors.setEnabled("a", true);
    await becomes(host, { a: "ready", b: "ready" });
    expect(host.skills().map(({ skills }) => skills.length)).toEqual([1]);
  });

  it("H-29: a server of the device is published without the skills of a folder that can't be used", async () => {
    const gateway = await parties.gateway();
    const good = await folderWith("docs");
    const told: unknown[] = [];
    const registrations = ["docs", "files"].map((slug) => ({
      slug,
      displayName: slug,
      newTools: "allow",
      settings: { endpoint: `${gateway.url}/v1/connectors/${slug}/mcp`, protocol: "modern" },
    }));
    const asked: string[] = [];
    const skills: SkillFolders = (connectorKey, digest) => {
      asked.push(connectorKey);
      expect(digest).toMatch(/^[0-9a-z:]{32,}$/);
      return connectorKey === "docs" ? good.path : good.at("none");
    };
    const { host } = await parties.host(gateway, [], {
      registrations,
      skills,
      logger: { debug() {}, info() {}, error() {}, warn: (_message, fields) => told.push(fields) },
    });
    await becomes(host, { docs: "ready", files: "ready" });
    expect(asked.toSorted()).toEqual(["docs", "files"]);
    expect((await agentOf(host).list()).names).toEqual(["docs_echo", "files_echo"]);
    expect(host.skills().map(({ connectorKey }) => connectorKey)).toEqual(["docs"]);
    expect(told).toContainEqual(
      expect.objectContaining({
        kind: "skills_left_out",
        connectorKey: "files",
        error: expect.objectContaining({
          code: "invalid_skills",
          details: { connectorKey: "files", path: "", reason: "is not there" },
        }),
      }),
    );
  });

  it("H-29: their front matter permits nothing", async () => {
    const gateway = await parties.gateway({ a: 1 });
    const folder = await SkillFolder.make();
    parties.opened.push(folder);
    await folder.skill("x", "x", "allowed-tools: a_echo\npermissions: allow\n");
    const { host } = await parties.host(gateway, ["a"], { skills: { a: folder.path }, newReleaseTools: "off" });
    host.signIn("ada");
    await becomes(host, { a: "ready" });
    expect(host.skills()).toHaveLength(1);
    expect((await agentOf(host).list()).names).toEqual([]);
    expect((await agentOf(host).call("a_echo")).result).toBeUndefined();
  });

  it("H-29: where they are is refused when it is no absolute path", async () => {
    const gateway = await parties.gateway();
    for (const skills of [{ a: "skills" }, JSON.parse('{"a": 1}'), JSON.parse('"x"'), JSON.parse("[]")]) {
      await expect(parties.host(gateway, [], { skills })).rejects.toMatchObject({
        code: "invalid_options",
        details: { option: "skills" },
      });
    }
    const { host } = await parties.host(gateway, [], {
      registrations: [{ slug: "d", displayName: "d", settings: { endpoint: `${gateway.url}/v1/connectors/d/mcp` } }],
      skills: () => {
        throw new Error("no");
      },
    });
    await becomes(host, { d: "ready" });
    expect(host.skills()).toEqual([]);
  });
});

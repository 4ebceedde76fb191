import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  createRegistrationMemory,
  RegistrationFiles,
  type RegistrationStore,
} from "../../../src/connector-host/device/index.js";
import { createRegistration, type Registration } from "../../../src/connector-host/registration/index.js";

const ids = ["0b3f1c9e-5f4e-4d1c-9a55-2f6f0f6a1d11", "0b3f1c9e-5f4e-4d1c-9a55-2f6f0f6a1d12"] as const;

function registration(slug: string, id: string = ids[0], more: object = {}): Registration {
  const settings = { endpoint: "https://docs.example/mcp", headers: { Authorization: { secret: `${slug}.token` } } };
  return createRegistration({ slug, displayName: slug, settings, ...more }, id);
}

const stores: readonly (readonly [string, () => Promise<RegistrationStore>])[] = [
  ["in memory", async () => createRegistrationMemory()],
  [
    "in files",
    async () => {
      const folder = await mkdtemp(join(tmpdir(), "registrations-"));
      onTestFinished(() => rm(folder, { recursive: true }));
      return new RegistrationFiles(folder);
    },
  ],
];

describe.each(stores)("registrations %s", (_name, open) => {
  it("H-3: are none at first, and then those that were put, by slug", async () => {
    const store = await open();
    expect(await store.load()).toEqual({ registrations: [], issues: [] });
    const [b, a] = [registration("b", ids[0]), registration("a", ids[1], { capabilities: ["tools", "prompts"] })];
    await Promise.all([store.put(b), store.put(a)]);
    expect(await store.load()).toEqual({ registrations: [a, b], issues: [] });
  });

  it("H-3: one is replaced by another with its id, in the order of the writes", async () => {
    const store = await open();
    // The longer a text, the longer takes its write.
    const descriptions = Object.fromEntries(
      Array.from({ length: 200 }, (_, n) => [`t${String(n)}`, { description: "x".repeat(16_000) }]),
    );
    const large = registration("a", ids[0], { displayName: "Large", descriptions });
    const small = registration("a", ids[0], { displayName: "Small" });
    await Promise.all([store.put(small), store.put(large), store.put(small), store.put(large), store.put(small)]);
    expect((await store.load()).registrations).toEqual([small]);
  });

  it("H-3: one that is removed is gone, and may be removed again", async () => {
    const store = await open();
    await store.put(registration("a", ids[0]));
    await store.put(registration("b", ids[1]));
    await Promise.all([store.remove({ id: ids[0] }), store.remove({ id: ids[0] })]);
    expect((await store.load()).registrations.map(({ slug }) => slug)).toEqual(["b"]);
  });

  it("H-3: two with one slug are both issues, and the rest load", async () => {
    const store = await open();
    await store.put(registration("a", ids[0]));
    await store.put(registration("a", ids[1]));
    const { registrations, issues } = await store.load();
    expect(registrations).toEqual([]);
    expect(issues.map(({ file, member }) => [file, member])).toEqual(ids.map((id) => [`${id}.json`, "slug"]));
  });
});

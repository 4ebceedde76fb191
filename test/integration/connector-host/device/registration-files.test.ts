import { execFileSync } from "node:child_process";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { RegistrationFiles } from "../../../../src/connector-host/device/index.js";
import {
  createRegistration,
  type Registration,
  writeRegistration,
} from "../../../../src/connector-host/registration/index.js";

const ID = "0b3f1c9e-5f4e-4d1c-9a55-2f6f0f6a1d11";

function registration(id = ID): Registration {
  const settings = { endpoint: "https://docs.example/mcp" };
  return createRegistration({ slug: `docs-${id.slice(-1)}`, displayName: "Docs", settings }, id);
}

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "registrations-"));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  return path;
}

const mode = async (path: string): Promise<string> => ((await stat(path)).mode & 0o777).toString(8);

describe("RegistrationFiles", () => {
  it("H-3: keeps files for their owner only, whatever the folder was before", async () => {
    const state = await folder();
    const registrations = join(state, "registrations");
    await mkdir(registrations, { mode: 0o755 });
    await new RegistrationFiles(state).put(registration());
    expect(await mode(registrations)).toBe("700");
    expect(await mode(join(registrations, `${ID}.json`))).toBe("600");
    expect(await readdir(registrations)).toEqual([`${ID}.json`]);
  });

  it("H-3: what can't be read is an issue, and the rest load", async () => {
    const state = await folder();
    const files = new RegistrationFiles(state);
    await files.put(registration());
    const at = (name: string): string => join(state, "registrations", name);
    await writeFile(at("broken.json"), "{");
    await mkdir(at("folder.json"));
    await writeFile(at("large.json"), "");
    await writeFile(at("large.json"), Buffer.alloc(12 * 1024 * 1024 + 1, " "));
    await writeFile(at("other.json"), await readFile(at(`${ID}.json`)));
    await writeFile(at("notes.txt"), "not ours");
    const { registrations, issues } = await files.load();
    expect(registrations.map(({ id }) => id)).toEqual([ID]);
    expect(issues.map(({ file, member, reason }) => [file, member, reason])).toEqual([
      ["broken.json", "", "no JSON object of at most 12 MiB"],
      ["folder.json", "", "no regular file"],
      ["large.json", "", "larger than 12 MiB"],
      ["other.json", "id", "not that of the file's name"],
    ]);
  });

  it("H-3: only what lies in the folder itself is read, and only its owner gets there", async () => {
    const state = await folder();
    const files = new RegistrationFiles(state);
    await files.put(registration());
    const registrations = join(state, "registrations");
    const elsewhere = join(state, "elsewhere.json");
    const other = ID.replace(/1$/, "2");
    await writeFile(elsewhere, writeRegistration(registration(other)));
    await symlink(elsewhere, join(registrations, `${other}.json`));
    // Whoever opened it would wait for a writer.
    execFileSync("/bin/sh", ["-c", 'mkfifo "$1"', "sh", join(registrations, "pipe.json")]);
    await writeFile(join(registrations, "deep.json"), "[".repeat(1_000_000));
    await mkdir(join(registrations, "folder.unfinished"));
    await chmod(registrations, 0o777);
    const loaded = await files.load();
    expect(loaded.registrations.map(({ id }) => id)).toEqual([ID]);
    expect(loaded.issues.map(({ file, reason }) => [file, reason])).toEqual([
      [`${other}.json`, "no regular file"],
      ["deep.json", "no JSON object of at most 12 MiB"],
      ["pipe.json", "no regular file"],
    ]);
    expect(await mode(registrations)).toBe("700");
  });

  it("H-3: what a killed write left behind is taken away, and the file before it is whole", async () => {
    const state = await folder();
    const files = new RegistrationFiles(state);
    await files.put(registration());
    const unfinished = join(state, "registrations", `${ID}.json.x.unfinished`);
    await writeFile(unfinished, '{"formatVersion":1,"id"');
    expect((await files.load()).registrations).toEqual([registration()]);
    expect(await readdir(join(state, "registrations"))).toEqual([`${ID}.json`]);
  });

  it("H-3: a place that can't be used is an error, nothing is left of the write, and later ones are made", async () => {
    const state = await folder();
    const files = new RegistrationFiles(state);
    await files.put(registration());
    // In the way of the last step, also for a user who may write everywhere.
    const other = ID.replace(/1$/, "2");
    const path = join(state, "registrations", `${other}.json`);
    await mkdir(path);
    await writeFile(join(path, "x"), "");
    const refused = files.put(registration(other));
    await expect(refused).rejects.toMatchObject({ code: "store_unavailable", delivery: "not_sent" });
    expect((await readdir(join(state, "registrations"))).toSorted()).toEqual([`${ID}.json`, `${other}.json`]);
    await rm(path, { recursive: true });
    await files.put(registration(other));
    expect((await files.load()).registrations.length).toBe(2);
    await chmod(state, 0o700);
    await rm(state, { recursive: true });
    await writeFile(state, "");
    await expect(files.load()).rejects.toMatchObject({ code: "store_unavailable" });
  });
});

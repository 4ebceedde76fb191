import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Progress } from "../../../src/protocol/index.js";
import { connect, published } from "./servers.js";

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "remote-connector-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

describe("LegacyStdioClient with servers from npm", () => {
  it("L-12, L-18: initializes server-everything, lists its tools and calls them", async () => {
    const client = await connect(published("server-everything"));
    expect(client.revision).toBe("2025-11-25");
    expect(client.serverInfo?.name).toContain("everything");
    expect(client.capabilities["tools"]).toBeDefined();
    const { tools, diagnostics } = await client.listAllTools();
    expect(tools.length).toBeGreaterThan(5);
    expect(diagnostics).toEqual([]);
    const result = await client.callTool({ name: "echo", arguments: { message: "hello" } });
    expect(result.content).toMatchObject([{ type: "text", text: expect.stringContaining("hello") }]);
    await client.ping();
  });

  it("W-18: hears the progress of a long tool", async () => {
    const client = await connect(published("server-everything"));
    const seen: Progress[] = [];
    await client.callTool(
      { name: "trigger-long-running-operation", arguments: { duration: 0.4, steps: 4 } },
      { onProgress: (progress) => seen.push(progress) },
    );
    expect(seen.map(({ progress }) => progress)).toEqual([1, 2, 3, 4]);
    expect(seen[0]?.total).toBe(4);
  });

  it("L-7: a call that is given up leaves the others alone", async () => {
    const client = await connect(published("server-everything"));
    const controller = new AbortController();
    const long = client.callTool(
      { name: "trigger-long-running-operation", arguments: { duration: 30, steps: 3 } },
      { signal: controller.signal },
    );
    const short = client.callTool({ name: "get-sum", arguments: { a: 2, b: 3 } });
    controller.abort("enough");
    await expect(long).rejects.toBe("enough");
    expect(JSON.stringify(await short)).toContain("5");
  });

  it("speaks to server-filesystem about a folder", async () => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, "a.txt"), "äöü 😀");
    const client = await connect(published("server-filesystem", [folder]));
    const text = await client.callTool({ name: "read_text_file", arguments: { path: join(folder, "a.txt") } });
    expect(text.content).toMatchObject([{ type: "text", text: "äöü 😀" }]);
    const outside = await client.callTool({ name: "read_text_file", arguments: { path: "/etc/passwd" } });
    expect(outside.isError).toBe(true);
  });

  it("L-12: gives server-memory its variables, and its own working folder", async () => {
    const folder = await temporaryFolder();
    const file = join(folder, "memory.jsonl");
    const client = await connect(published("server-memory", [], { env: { MEMORY_FILE_PATH: file }, cwd: folder }));
    const entities = [{ name: "n", entityType: "t", observations: ["o"] }];
    await client.callTool({ name: "create_entities", arguments: { entities } });
    expect(JSON.stringify((await client.callTool({ name: "read_graph" })).structuredContent)).toContain('"o"');
    expect(await readFile(file, "utf8")).toContain('"n"');
    await client.close();
    expect(await client.exited).toMatchObject({ signal: undefined });
  });

  it.each(["2025-06-18", "2025-03-26", "2024-11-05"] as const)(
    "L-18: speaks %s when that is offered",
    async (revision) => {
      const client = await connect({ ...published("server-memory"), revisions: [revision] });
      expect(client.revision).toBe(revision);
      expect((await client.listTools()).tools.length).toBeGreaterThan(5);
    },
  );
});

import { describe, expect, it } from "vitest";
import { RemoteConnectorError } from "../../../src/errors.js";
import { ContractResolver, type ToolWalk } from "../../../src/modern-client/contract-resolver.js";
import { type RawListPage, walkTools } from "../../../src/protocol/index.js";
import { settle } from "../../support/fake-clock.js";

const tool = (name: string, header?: string) => ({
  name,
  inputSchema: {
    type: "object",
    properties: { p: { type: "string", ...(header === undefined ? {} : { "x-mcp-header": header }) } },
  },
});
const page = (entries: unknown[], nextCursor?: unknown): RawListPage => ({
  entries,
  nextCursor,
  message: Buffer.from("0123456789"),
});
const limits = { maxPages: 4, maxItems: 100, maxListBytes: 1_000 };
const options = { limits, honoursHeaders: true };
const refusedCursor = () =>
  new RemoteConnectorError("peer_error", {
    message: "bad cursor",
    delivery: "answered",
    details: { rpcCode: -32602, rpcMessage: "bad cursor", rpcData: undefined },
  });

describe("walkTools", () => {
  it("W-30: an empty string is a cursor, null ends the walk", async () => {
    const cursors: unknown[] = [];
    const pages = [page([tool("a")], ""), page([tool("b")], "x"), page([tool("c")], null)];
    const walked = await walkTools(async (cursor) => {
      cursors.push(cursor);
      return pages.shift() ?? page([]);
    }, options);
    expect(cursors).toEqual([undefined, "", "x"]);
    expect(walked.tools.map(({ name }) => name)).toEqual(["a", "b", "c"]);
  });

  it("W-30: a refused cursor discards all pages and restarts once", async () => {
    let firsts = 0;
    const walked = await walkTools(async (cursor) => {
      if (cursor === undefined) firsts += 1;
      if (cursor === "old") throw refusedCursor();
      return cursor === undefined
        ? page([tool(`a${String(firsts)}`)], firsts === 1 ? "old" : "new")
        : page([tool("b")]);
    }, options);
    expect(walked.tools.map(({ name }) => name)).toEqual(["a2", "b"]);
    expect(walked.check.diagnostics).toMatchObject([{ kind: "walk_restarted" }]);
  });

  it("W-30: a second refusal, and -32602 without a cursor, are the server's error", async () => {
    const twice = walkTools(async (cursor) => {
      if (cursor !== undefined) throw refusedCursor();
      return page([tool("a")], "c");
    }, options);
    await expect(twice).rejects.toMatchObject({ code: "peer_error", details: { rpcCode: -32602 } });
    const atOnce = walkTools(() => Promise.reject(refusedCursor()), options);
    await expect(atOnce).rejects.toMatchObject({ code: "peer_error" });
  });
});

describe("ContractResolver", () => {
  function scripted() {
    const walks: { onPage: (entries: unknown[]) => void; end: (error?: unknown) => void }[] = [];
    const walk: ToolWalk = (onPage) =>
      new Promise((resolve, reject) => {
        const pages: RawListPage[] = [];
        let deliver: ((p: RawListPage) => void) | undefined;
        const next = () => new Promise<RawListPage>((ready) => (deliver = ready));
        walks.push({
          onPage: (entries) => deliver?.(page(entries, `c${String(pages.push(page(entries)))}`)),
          end: (error) => (error === undefined ? deliver?.(page([])) : reject(error)),
        });
        walkTools(next, { ...options, limits: { ...limits, maxPages: 50 }, onPage }).then(resolve, reject);
      });
    return { walks, resolver: new ContractResolver(walk) };
  }

  it("W-25: callers share one walk, and each goes on when its tool is met", async () => {
    const { walks, resolver } = scripted();
    const [a, b, c] = [resolver.find("a"), resolver.find("b"), resolver.find("c")];
    expect(walks).toHaveLength(1);
    walks[0]?.onPage([tool("a", "A")]);
    await expect(a).resolves.toMatchObject({ kind: "known", contract: { parameters: [{ header: "Mcp-Param-A" }] } });
    walks[0]?.onPage([tool("b", "spa ce")]);
    await expect(b).resolves.toMatchObject({ kind: "excluded", reason: "not an HTTP token" });
    expect(resolver.book.find("a")).toEqual({ kind: "unknown" });
    walks[0]?.end();
    await expect(c).resolves.toEqual({ kind: "unlisted" });
    expect(resolver.book.find("a")).toMatchObject({ kind: "known" });
  });

  it("W-24: findAnew waits for a walk that begins after it was asked", async () => {
    const { walks, resolver } = scripted();
    const early = resolver.find("a");
    const late = [resolver.findAnew("a"), resolver.findAnew("a")];
    walks[0]?.onPage([tool("a", "Old")]);
    await early;
    walks[0]?.end();
    await settle();
    expect(walks).toHaveLength(2);
    walks[1]?.onPage([tool("a", "New")]);
    for (const found of await Promise.all(late)) {
      expect(found).toMatchObject({ contract: { parameters: [{ header: "Mcp-Param-New" }] } });
    }
    walks[1]?.end();
    await settle();
    expect(walks).toHaveLength(2);
  });

  it("W-23: a list that runs beside a call does not change the contract that the call has", async () => {
    const { walks, resolver } = scripted();
    const first = resolver.find("a");
    walks[0]?.onPage([tool("a", "Old")]);
    const held = await first;
    walks[0]?.end();
    await settle();
    const second = resolver.findAnew("a");
    walks[1]?.onPage([tool("a", "New")]);
    await second;
    walks[1]?.end();
    await settle();
    expect(held).toMatchObject({ contract: { parameters: [{ header: "Mcp-Param-Old" }] } });
    expect(resolver.book.find("a")).toMatchObject({ contract: { parameters: [{ header: "Mcp-Param-New" }] } });
  });

  it("W-24: a walk that has served everyone and hangs holds up nobody, and does not undo a later one", async () => {
    const { walks, resolver } = scripted();
    const first = resolver.find("a");
    walks[0]?.onPage([tool("a", "Old")]);
    await first;
    const anew = resolver.findAnew("a");
    expect(walks).toHaveLength(2);
    walks[1]?.onPage([tool("a", "New")]);
    await expect(anew).resolves.toMatchObject({ contract: { parameters: [{ header: "Mcp-Param-New" }] } });
    await settle();
    walks[1]?.end();
    await settle();
    walks[0]?.end();
    await settle();
    expect(resolver.book.find("a")).toMatchObject({ contract: { parameters: [{ header: "Mcp-Param-New" }] } });
  });

  it("W-25: a tool that a whole list does not have is known to be unlisted", async () => {
    const { walks, resolver } = scripted();
    const found = resolver.find("ghost");
    walks[0]?.onPage([tool("a")]);
    await settle();
    walks[0]?.end();
    await expect(found).resolves.toEqual({ kind: "unlisted" });
    expect(resolver.book.find("ghost")).toEqual({ kind: "unlisted" });
    expect(resolver.book.find("a")).toMatchObject({ kind: "known" });
  });

  it("W-25: a failed walk fails those who wait, and the next begins anew", async () => {
    const { walks, resolver } = scripted();
    const found = resolver.find("a");
    walks[0]?.end(new Error("down"));
    await expect(found).rejects.toThrow("down");
    void resolver.find("a").catch(() => undefined);
    expect(walks).toHaveLength(2);
  });
});

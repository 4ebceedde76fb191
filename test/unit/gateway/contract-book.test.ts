import { describe, expect, it } from "vitest";
import { ContractBook } from "../../../src/gateway/contract-book.js";
import type { UpstreamPage } from "../../../src/gateway/upstream.js";

const tool = (name: string, header?: string): object => ({
  name,
  inputSchema: {
    type: "object",
    properties: { a: { type: "string", ...(header === undefined ? {} : { "x-mcp-header": header }) } },
  },
});
const excluded = (name: string): object => tool(name, "not a token");

/** Pages by the cursor that they are asked for with, `""` included; the first has the key `undefined`. */
function upstream(pages: Readonly<Record<string, readonly [readonly object[], string?]>>): {
  asked: (string | undefined)[];
  listTools: (cursor: string | undefined) => Promise<UpstreamPage>;
} {
  const asked: (string | undefined)[] = [];
  return {
    asked,
    listTools: (cursor) => {
      asked.push(cursor);
      const [tools, nextCursor] = pages[String(cursor)] ?? [[]];
      return Promise.resolve({ raw: new Uint8Array(), tools, nextCursor });
    },
  };
}

const headersOf = async (book: ContractBook, name: string): Promise<string[] | undefined> =>
  (await book.find(name))?.parameters.map(({ header }) => header);

describe("ContractBook", () => {
  it("W-25: looks for an unknown tool through all pages, once for all who wait", async () => {
    const server = upstream({ undefined: [[tool("a")], ""], "": [[tool("b", "B")]] });
    const book = new ContractBook(server);
    expect(await Promise.all([headersOf(book, "b"), headersOf(book, "b"), headersOf(book, "a")])).toEqual([
      ["Mcp-Param-B"],
      ["Mcp-Param-B"],
      [],
    ]);
    expect(server.asked).toEqual([undefined, ""]);
  });

  it("W-25: a tool that no page has stays unknown, and so does one whose annotations are invalid, without another look", async () => {
    const server = upstream({ undefined: [[excluded("bad")]] });
    const book = new ContractBook(server);
    expect(await book.find("none")).toBeUndefined();
    expect(await book.find("bad")).toBeUndefined();
    expect(server.asked).toHaveLength(1);
  });

  it("W-23: a first page replaces what was known, a later one adds to it", async () => {
    const server = upstream({ undefined: [[tool("found")]] });
    const book = new ContractBook(server);
    book.note(undefined, [tool("a", "One"), tool("gone", "Gone")]);
    book.note("next", [tool("b", "Two")]);
    expect(await headersOf(book, "a")).toEqual(["Mcp-Param-One"]);
    expect(await headersOf(book, "b")).toEqual(["Mcp-Param-Two"]);
    book.note(undefined, [tool("a", "Other")]);
    expect(await headersOf(book, "a")).toEqual(["Mcp-Param-Other"]);
    expect(server.asked).toEqual([]);
    expect(await headersOf(book, "gone")).toBeUndefined();
    expect(server.asked).toEqual([undefined]);
  });

  it("W-25: a failed look is told to those who waited, and made again by the next", async () => {
    let fails = true;
    const book = new ContractBook({
      listTools: () =>
        fails
          ? Promise.reject(new Error("down"))
          : Promise.resolve({ raw: new Uint8Array(), tools: [tool("a")], nextCursor: undefined }),
    });
    await expect(book.find("a")).rejects.toThrow("down");
    fails = false;
    expect(await headersOf(book, "a")).toEqual([]);
  });
});

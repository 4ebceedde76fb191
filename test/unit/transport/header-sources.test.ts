import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  addHeaders,
  type AuthorizationRefusal,
  type Authorizer,
  type AuthorizeRequest,
  type HeaderMap,
  type HeaderSources,
  resolveHeaderSources,
} from "../../../src/transport/index.js";

const request: AuthorizeRequest = {
  url: "https://h.test/mcp",
  method: "tools/call",
  httpMethod: "POST",
  attempt: 1,
  operation: {},
};
let folder = "";

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "headers-"));
});
afterAll(() => rm(folder, { recursive: true }));

async function file(name: string, content: string | Buffer): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, content);
  return path;
}

describe("F-17: where header values come from", () => {
  it("literals and the environment are known at once, and leave the authorizer as it is", () => {
    const authorizer = { authorize: (): undefined => undefined };
    const sources = { "X-A": "1", "X-Empty": { env: "EMPTY" }, Authorization: { env: "TOKEN" } };
    const resolved = resolveHeaderSources(sources, authorizer, { TOKEN: "Bearer t", EMPTY: "" });
    expect(resolved).toEqual({ fixed: { "X-A": "1", "X-Empty": "", Authorization: "Bearer t" }, authorizer });
    expect(resolveHeaderSources({}).authorizer).toBeUndefined();
  });

  it("a variable that is not set fails closed, when the client is made", () => {
    expect(() => resolveHeaderSources({ Authorization: { env: "TOKEN" } }, undefined, { token: "secret" })).toThrow(
      expect.objectContaining({
        code: "invalid_header",
        delivery: "not_sent",
        details: { header: "Authorization", reason: "the environment variable TOKEN is not set" },
      }),
    );
  });

  it("the process's own environment is the default", () => {
    const [name, value] = Object.entries(process.env).find(([, each]) => each !== undefined && each !== "") ?? ["", ""];
    expect(resolveHeaderSources({ "X-A": { env: name } }).fixed).toEqual({ "X-A": value });
  });

  it.each<[string, HeaderSources]>([
    ["a reserved name", { "Mcp-Method": { file: "x" } }],
    ["a name that is no token", { "a b": () => "x" }],
    ["a value that can't be sent", { "X-A": { env: "BAD" } }],
  ])("%s is refused when the client is made, without its value", (_, sources) => {
    let error: unknown;
    try {
      resolveHeaderSources(sources, undefined, { BAD: "secret\r\nX: y" });
    } catch (caught) {
      error = caught;
    }
    expect(error).toMatchObject({ code: "invalid_header", delivery: "not_sent" });
    expect(JSON.stringify(error)).not.toContain("secret");
  });

  it.each([{ value: "secret" }, { env: "A", file: "b" }, { env: 1 }, {}])("%j is no source", (source) => {
    const sources: HeaderSources = {};
    expect(() => resolveHeaderSources(Object.assign(sources, { "X-A": source }), undefined, { A: "secret" })).toThrow(
      expect.objectContaining({
        code: "invalid_options",
        details: { option: "headers.X-A", reason: expect.not.stringContaining("secret") },
      }),
    );
  });

  it("a function is asked at each request, and may have nothing to say", async () => {
    const asked: unknown[] = [];
    const { fixed, authorizer } = resolveHeaderSources({
      "X-Time": (about) => {
        asked.push(about);
        return Promise.resolve(String(asked.length));
      },
      "X-None": () => undefined,
    });
    expect(fixed).toEqual({});
    expect(await authorizer?.authorize(request)).toEqual({ "X-Time": "1" });
    expect(await authorizer?.authorize({ ...request, attempt: 2 })).toEqual({ "X-Time": "2" });
    expect(asked).toEqual([request, { ...request, attempt: 2 }]);
  });

  it("a file is read at each request, without the line break at its end", async () => {
    const path = await file("token", "Bearer one\n");
    const { authorizer } = resolveHeaderSources({ Authorization: { file: path } });
    expect(await authorizer?.authorize(request)).toEqual({ Authorization: "Bearer one" });
    await file("token", "Bearer two\r\n");
    expect(await authorizer?.authorize(request)).toEqual({ Authorization: "Bearer two" });
  });

  it("F-17: of a header that an authorizer gives in another case, one is sent, and it is the authorizer's", async () => {
    const { fixed, authorizer } = resolveHeaderSources(
      { "X-A": () => "source", "X-B": "fixed" },
      {
        authorize: () => ({ "x-a": "mine", "x-b": "mine" }),
      },
    );
    const list: string[] = [];
    addHeaders(list, fixed);
    addHeaders(list, (await authorizer?.authorize(request)) ?? {});
    expect(list).toEqual(["X-B", "mine", "X-A", "mine"]);
  });

  it("F-17: a header that is configured twice is refused", () => {
    const refused = expect.objectContaining({ code: "invalid_header", delivery: "not_sent" });
    expect(() => resolveHeaderSources({ "X-A": "1", "x-a": () => "2" })).toThrow(refused);
    expect(() => resolveHeaderSources({ "X-A": "1", "X-B": "2" })).not.toThrow();
  });

  it("the authorizer is asked after them, and has the last word", async () => {
    const order: string[] = [];
    const { authorizer } = resolveHeaderSources(
      { "X-A": () => (order.push("source"), "1"), "X-B": () => "2" },
      { authorize: () => (order.push("authorizer"), { "X-A": "mine" }) },
    );
    expect(await authorizer?.authorize(request)).toEqual({ "X-A": "mine", "X-B": "2" });
    expect(order).toEqual(["source", "authorizer"]);
  });

  it("A-8: an authorizer hears of a refusal what it gave itself, of the very request, and of answers", async () => {
    class Recorder implements Authorizer {
      readonly heard: unknown[] = [];
      #given: HeaderMap | undefined = { Authorization: "Bearer a" };
      authorize(): HeaderMap | undefined {
        const given = this.#given;
        this.#given = undefined;
        return given;
      }
      give(given: HeaderMap): void {
        this.#given = given;
      }
      onRefused(refusal: AuthorizationRefusal): boolean {
        this.heard.push(refusal);
        return true;
      }
      onAnswered(...told: unknown[]): void {
        this.heard.push(told);
      }
    }
    const recorder = new Recorder();
    const { authorizer } = resolveHeaderSources({ "X-A": () => "1" }, recorder);
    const { signal } = new AbortController();
    const refusal = { request, status: 401, headers: {}, challenges: [], sent: { "X-A": "1" }, signal } as const;
    expect(await authorizer?.authorize(request)).toEqual({ "X-A": "1", Authorization: "Bearer a" });
    expect(await authorizer?.onRefused?.(refusal)).toBe(true);
    expect(await authorizer?.authorize(request)).toEqual({ "X-A": "1" });
    await authorizer?.onRefused?.(refusal);
    authorizer?.onAnswered?.(request, { "dpop-nonce": "n" });
    expect(recorder.heard).toEqual([
      { ...refusal, sent: { Authorization: "Bearer a" } },
      { ...refusal, sent: undefined },
      [request, { "dpop-nonce": "n" }],
    ]);
    // Another request of the same operation, at the same time.
    const other = { ...request };
    await authorizer?.authorize(request);
    recorder.give({ Authorization: "Bearer b" });
    await authorizer?.authorize(other);
    await authorizer?.onRefused?.(refusal);
    await authorizer?.onRefused?.({ ...refusal, request: other });
    expect(recorder.heard.slice(3)).toEqual([
      { ...refusal, sent: undefined },
      { ...refusal, request: other, sent: { Authorization: "Bearer b" } },
    ]);
    expect(resolveHeaderSources({ "X-A": () => "1" }).authorizer?.onRefused).toBeUndefined();
    expect(resolveHeaderSources({ "X-A": () => "1" }, { authorize: () => undefined }).authorizer?.onRefused).toBe(
      undefined,
    );
  });

  it.each<[string, () => Promise<HeaderSources>]>([
    ["a file that is not there", () => Promise.resolve({ "X-A": { file: join(folder, "none") } })],
    ["a file that is too large", async () => ({ "X-A": { file: await file("large", Buffer.alloc(65_537, "s")) } })],
    ["a folder", () => Promise.resolve({ "X-A": { file: folder } })],
    [
      "a function that throws",
      () =>
        Promise.resolve({
          "X-A": () => {
            throw new Error("locked");
          },
        }),
    ],
    ["a function that rejects", () => Promise.resolve({ "X-A": () => Promise.reject(new Error("locked")) })],
  ])("%s fails the request, not_sent, and no other header is given", async (_, sources) => {
    const { authorizer } = resolveHeaderSources({ "X-B": () => "2", ...(await sources()) });
    await expect(authorizer?.authorize(request)).rejects.toMatchObject({
      code: "invalid_header",
      delivery: "not_sent",
      details: { header: "X-A", reason: "its source failed" },
    });
  });
});

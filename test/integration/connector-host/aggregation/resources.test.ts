import { describe, expect, it } from "vitest";
import { deliveryOf } from "../../../../src/errors.js";
import { type Answer, answerError, answerNothing, Gate } from "../../../../src/testing/index.js";
import { FakeClock } from "../../../support/fake-clock.js";
import {
  bindingOf,
  DEVICE,
  EntryParty,
  ERAS,
  gives,
  type Methods,
  modern,
  requestOf,
  resultOf,
  serve,
  textOf,
  timesAsked,
} from "./entry-parties.js";

const never = new AbortController().signal;
const listOf = (...uris: string[]): string =>
  `{"resources":[${uris.map((uri) => JSON.stringify({ uri, name: uri })).join(",")}]}`;
const templatesOf = (...texts: string[]): string =>
  `{"resourceTemplates":[${texts.map((uriTemplate) => JSON.stringify({ uriTemplate, name: "t" })).join(",")}]}`;

/** A server of these resources and templates whose reads give the URI back. */
const has = (uris: readonly string[], templates: readonly string[] = [], more: Methods = {}): Methods => ({
  "resources/list": gives(listOf(...uris)),
  "resources/templates/list": gives(templatesOf(...templates)),
  "resources/read": ({ uri }) =>
    resultOf(`{"contents":[{"uri":${JSON.stringify(uri)},"text":"","n":9007199254740993}]}`),
  ...more,
});

async function partyOf(servers: Readonly<Record<string, Methods>>) {
  const party = new EntryParty(Object.fromEntries(Object.keys(servers).map((key) => [key, ["tools", "resources"]])));
  const opened = new Map<string, Awaited<ReturnType<typeof serve>>>();
  for (const [key, methods] of Object.entries(servers)) {
    const server = await serve(modern(methods));
    opened.set(key, server);
    await party.publish(key, server);
  }
  const binding = bindingOf();
  const read = (uri: string, connectorKey?: string, from = binding) =>
    party.directory.resources.read(from, uri, requestOf({ connectorKey }));
  const asked = (key: string, method: string): number => {
    const server = opened.get(key);
    return server === undefined ? 0 : timesAsked(server, method);
  };
  return { party, binding, read, asked };
}

describe.each(ERAS)("resources of $era servers", ({ like, era }) => {
  it("H-28: are listed whole and read under their own URIs, with the result's own bytes", async () => {
    const resource = '{ "size":18446744073709551616,"uri":"file:///a%20b","name":"x" }';
    const template = '{"uriTemplate":"file:///{+p}","name":"t","z":1.0}';
    const result = '{"contents":[{"uri":"file:///a%20b","text":"","n":9007199254740993}],"z":1.0}';
    const server = await serve(
      like({
        "resources/list": gives(`{"resources":[${resource}]}`),
        "resources/templates/list": gives(`{"resourceTemplates":[${template}]}`),
        "resources/read": gives(result),
      }),
    );
    const party = new EntryParty({ a: ["resources"] });
    await party.publish("a", server);
    const { resources } = party.directory;
    const binding = bindingOf();
    expect((await resources.list(binding, never)).entries).toEqual([resource]);
    expect((await resources.listTemplates(binding, never)).entries).toEqual([template]);
    const answer = await resources.read(binding, "file:///a%20b", requestOf({}));
    expect(textOf(answer)).toBe(result);
    expect(answer.era).toBe(era);
    expect(server.requests.at(-1)?.params["uri"]).toBe("file:///a%20b");
    expect(timesAsked(server, "resources/list")).toBe(1);
  });
});

describe("whose a resource is", () => {
  it("H-28: its connector's that listed it; by connector, several times when several do", async () => {
    const { party, binding, read, asked } = await partyOf({ b: has(["x:both", "x:b"]), a: has(["x:both"]) });
    const { entries } = await party.directory.resources.list(binding, never);
    expect(entries.map((entry) => JSON.parse(entry).uri)).toEqual(["x:both", "x:both", "x:b"]);
    await read("x:b");
    expect([asked("a", "resources/read"), asked("b", "resources/read")]).toEqual([0, 1]);
  });

  it("H-28: of several owners none is guessed, and the chosen one is asked", async () => {
    const { read, asked } = await partyOf({ a: has(["x:1"]), b: has(["x:1"]), c: has([]) });
    await expect(read("x:1")).rejects.toMatchObject({
      code: "ambiguous_resource",
      delivery: "not_sent",
      details: { uri: "x:1", connectorKeys: ["a", "b"] },
    });
    await read("x:1", "b");
    expect([asked("a", "resources/read"), asked("b", "resources/read")]).toEqual([0, 1]);
    await expect(read("x:1", "c")).rejects.toMatchObject({ code: "resource_not_found", delivery: "not_sent" });
    expect(asked("c", "resources/read")).toBe(0);
  });

  it("H-28: by a template when nobody showed it", async () => {
    const { read, asked } = await partyOf({ a: has([], ["x:{id}"]), b: has(["x:2"]) });
    await read("x:1");
    await read("x:2");
    expect([asked("a", "resources/read"), asked("b", "resources/read")]).toEqual([1, 1]);
  });

  it("H-28: of a URI that is not known the lists are read once, for all who ask, and nothing is kept of none", async () => {
    let uris: string[] = [];
    const gate = new Gate();
    const lists = { "resources/list": async () => (await gate.opened, resultOf(listOf(...uris))) };
    const { read, asked } = await partyOf({ a: has([], [], lists), b: has([]) });
    const failures = Promise.allSettled([read("x:1"), read("x:1"), read("x:other")]);
    await expect.poll(() => asked("a", "resources/list")).toBe(1);
    gate.open();
    expect(await failures).toMatchObject(
      Array.from({ length: 3 }, () => ({ reason: { code: "resource_not_found", delivery: "not_sent" } })),
    );
    expect([asked("a", "resources/list"), asked("b", "resources/list")]).toEqual([1, 1]);
    uris = ["x:1"];
    await read("x:1");
    expect([asked("a", "resources/list"), asked("a", "resources/read")]).toEqual([2, 1]);
  });

  it("H-28: one who leaves does not end the walk of the others", async () => {
    const gate = new Gate();
    const lists = { "resources/list": async () => (await gate.opened, resultOf(listOf("x:1"))) };
    const { party, binding, read, asked } = await partyOf({ a: has([], [], lists) });
    const leaving = new AbortController();
    const left = party.directory.resources.read(binding, "x:1", requestOf({ signal: leaving.signal }));
    const reading = read("x:1");
    await expect.poll(() => asked("a", "resources/list")).toBe(1);
    leaving.abort("left");
    await expect(left).rejects.toBe("left");
    expect(deliveryOf(left)).toBe("not_sent");
    gate.open();
    await reading;
    expect(asked("a", "resources/list")).toBe(1);
  });

  it("H-28: links and embedded resources in results show whose they are, to who was shown them", async () => {
    const content = '[{"type":"resource_link","uri":"x:linked","name":"l"}]';
    const messages = '[{"role":"user","content":{"type":"resource","resource":{"uri":"x:embedded","text":""}}}]';
    const shows = {
      "tools/list": gives('{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}'),
      "tools/call": gives(`{"content":${content}}`),
      "prompts/list": gives('{"prompts":[{"name":"p"}]}'),
      "prompts/get": gives(`{"messages":${messages}}`),
      "resources/read": gives('{"contents":[{"uri":"x:below","text":""}]}'),
    };
    const { party, binding, read, asked } = await partyOf({ a: has([], [], shows), b: has([]) });
    party.opened["a"] = ["tools", "prompts", "resources"];
    const tool = await party.directory.resolve(binding, "a_t", never);
    await party.directory.call(binding, tool, requestOf({ argumentsText: undefined }));
    await party.directory.prompts.get(binding, "a_p", requestOf({ argumentsText: undefined }));
    await read("x:linked");
    await read("x:embedded");
    await read("x:below");
    expect([asked("a", "resources/read"), asked("a", "resources/list")]).toEqual([3, 0]);
    await expect(read("x:linked", undefined, bindingOf("other"))).rejects.toMatchObject({ code: "resource_not_found" });
  });

  it("H-16: what a binding was shown is remembered up to maxRememberedResources, and found again by the lists", async () => {
    const server = await serve(modern(has(["x:1", "x:2", "x:3"])));
    const party = new EntryParty({ a: ["resources"] }, { maxRememberedResources: 2 });
    await party.publish("a", server);
    const binding = bindingOf();
    await party.directory.resources.list(binding, never);
    await party.directory.resources.read(binding, "x:3", requestOf({}));
    expect(timesAsked(server, "resources/list")).toBe(2);
    await party.directory.resources.read(binding, "x:3", requestOf({}));
    // Its own read showed it.
    expect(timesAsked(server, "resources/list")).toBe(2);
  });

  it("H-4, H-31: neither of a connector that is not opened for resources, nor denied", async () => {
    const { party, binding, read, asked } = await partyOf({ a: has(["x:1"]), b: has(["x:2", "x:3"]) });
    party.opened["a"] = ["tools"];
    party.denied.add("b/x:2");
    const { entries } = await party.directory.resources.list(binding, never);
    expect(entries.map((entry) => JSON.parse(entry).uri)).toEqual(["x:3"]);
    await expect(read("x:1")).rejects.toMatchObject({ code: "resource_not_found" });
    await expect(read("x:2")).rejects.toMatchObject({
      code: "not_permitted",
      delivery: "not_sent",
      details: { connectorKey: "b" },
    });
    expect([asked("a", "resources/list"), asked("b", "resources/read")]).toEqual([0, 0]);
  });

  it("H-28: who could not be asked is named; a withdrawn connector owns nothing", async () => {
    const silent = { "resources/list": () => answerNothing() };
    const refuses = (): Answer => answerError(-32603);
    const dead = { "resources/list": refuses, "resources/templates/list": refuses };
    const servers = { a: has(["x:1"]), b: has([], [], silent), c: has([]) };
    const opened = { a: ["resources"], b: ["resources"], c: ["resources"] };
    const clock = new FakeClock();
    const party = new EntryParty(opened, { clock });
    for (const [key, methods] of Object.entries(servers)) await party.publish(key, await serve(modern(methods)));
    const binding = bindingOf();
    const read = () => party.directory.resources.read(binding, "x:1", requestOf({ deadline: clock.now() + 60_000 }));
    /** Lets the budget of the silent one pass when the others have answered: it is the only one that is left. */
    const readWithinBudget = async () => {
      await clock.advance(1_000);
      const before = clock.pending;
      const outcome = Promise.allSettled([read()]);
      await expect.poll(() => clock.pending, { interval: 5 }).toBe(before + 1);
      await clock.advance(5_000);
      return (await outcome)[0];
    };
    expect(await readWithinBudget()).toMatchObject({ status: "fulfilled" });
    await party.routes.remove(DEVICE, "a", 1);
    expect(await readWithinBudget()).toMatchObject({
      reason: {
        code: "resource_not_found",
        delivery: "not_sent",
        message: expect.stringMatching(/did not answer: b\.$/),
      },
    });
    await party.routes.remove(DEVICE, "c", 3);
    await party.routes.remove(DEVICE, "b", 2);
    await party.publish("b", await serve(modern({ ...has([]), ...dead })));
    await expect(read()).rejects.toMatchObject({ code: "peer_error", delivery: "not_sent" });
  });

  it("H-28: a server whose templates can't be had owns what it lists", async () => {
    const refuses = { "resources/templates/list": () => answerError(-32603) };
    const { read } = await partyOf({ a: has(["x:1"], [], refuses) });
    await read("x:1");
    const failure = read("x:2");
    await expect(failure).rejects.toMatchObject({ code: "resource_not_found" });
    await expect(failure).rejects.toThrow(/did not answer: a\./);
  });

  it("H-28: a connector that has a resource no more is asked for it once, and then who has it", async () => {
    const missing = () => answerError(-32602, "none", { data: { uri: "x:1" }, status: 200 });
    const { party, read } = await partyOf({ a: has(["x:1"]), b: has(["y:1"]) });
    await read("x:1");
    // The resource has moved.
    await party.publish("a", await serve(modern(has([], [], { "resources/read": missing }))));
    await party.publish("b", await serve(modern(has(["x:1"]))));
    await expect(read("x:1")).rejects.toMatchObject({ code: "resource_not_found", delivery: "answered" });
    expect(textOf(await read("x:1"))).toContain("x:1");
  });

  it("H-18, H-28: an owner without a route is woken for the read", async () => {
    const { party, read } = await partyOf({ a: has(["x:1"]) });
    await read("x:1");
    await party.routes.remove(DEVICE, "a", 1);
    party.missing = [{ connectorKey: "a", state: "starting", nextAttemptAt: undefined }];
    const reading = read("x:1");
    await expect.poll(() => party.woken).toEqual(["a"]);
    await party.publish("a", await serve(modern(has(["x:1"]))));
    expect(textOf(await reading)).toContain("x:1");
  });

  it("H-26: its server's own refusal keeps its code and data", async () => {
    const refuses = {
      "resources/read": () => answerError(-32602, "none", { data: { uri: "x:1", more: 1 }, status: 200 }),
    };
    const { read } = await partyOf({ a: has(["x:1"], [], refuses) });
    await expect(read("x:1")).rejects.toMatchObject({
      code: "resource_not_found",
      delivery: "answered",
      details: { rpcCode: -32602, rpcData: { uri: "x:1", more: 1 } },
    });
  });
});

import { describe, expect, it } from "vitest";
import type { AnyRemoteConnectorError } from "../../../../src/errors.js";
import { answerError, answerNothing, Gate } from "../../../../src/testing/index.js";
import { FakeClock } from "../../../support/fake-clock.js";
import {
  bindingOf,
  EntryParty,
  ERAS,
  gives,
  modern,
  requestOf,
  resultOf,
  serve,
  textOf,
  timesAsked,
} from "./entry-parties.js";

const never = new AbortController().signal;
const listOf = (...definitions: string[]): string => `{"prompts":[${definitions.join(",")}]}`;
const get = (party: EntryParty, name: string, argumentsText?: string) =>
  party.directory.prompts.get(bindingOf(), name, requestOf({ argumentsText }));

describe.each(ERAS)("prompts of $era servers", ({ like, era }) => {
  it("H-18, H-24: are listed whole, page by page, sorted, with nothing but the name changed", async () => {
    const first = '{ "z":18446744073709551616, "name":"big","arguments":[{"name":"n","x":1.0}],"icons":[] }';
    const second = '{"name":"__proto__","description":"\\u00e9","_meta":{"a/b":1e400}}';
    const server = await serve(
      like({
        "prompts/list": ({ cursor }) =>
          resultOf(cursor === "" ? listOf(second) : `{"nextCursor":"","prompts":[${first}]}`),
      }),
    );
    const party = new EntryParty({ a: ["prompts"] });
    await party.publish("a", server);
    const { entries, omitted } = await party.directory.prompts.list(bindingOf(), never);
    expect(entries).toEqual([second.replace("__proto__", "a___proto__"), first.replace('"big"', '"a_big"')]);
    expect(omitted).toEqual([]);
  });

  it("H-18, H-26: are got under their own names, with the arguments' own text, and the result's own bytes", async () => {
    const result = '{"messages":[ ],"_meta":{"n":9007199254740993},"z":1.0}';
    const server = await serve(
      like({ "prompts/list": gives(listOf('{"name":"say.it"}')), "prompts/get": gives(result) }),
    );
    const party = new EntryParty({ a: ["prompts"] });
    await party.publish("a", server);
    const [entry = ""] = (await party.directory.prompts.list(bindingOf(), never)).entries;
    const { name }: { name: string } = JSON.parse(entry);
    const args = '{ "n":"\\u0031","big":"9007199254740993" }';
    const answer = await get(party, name, args);
    expect(textOf(answer)).toBe(result);
    expect(answer.era).toBe(era);
    const sent = server.requests.at(-1);
    expect(sent?.text).toContain(`"arguments":${args}`);
    expect(sent?.params["name"]).toBe("say.it");
  });

  it("H-18: a name that no list showed is looked for, once", async () => {
    const server = await serve(
      like({ "prompts/list": gives(listOf('{"name":"p"}')), "prompts/get": gives('{"messages":[]}') }),
    );
    const party = new EntryParty({ a: ["prompts"] });
    await party.publish("a", server);
    await get(party, "a_p");
    await get(party, "a_p");
    expect(timesAsked(server, "prompts/list")).toBe(1);
    await expect(get(party, "a_q")).rejects.toMatchObject({ code: "unknown_prompt", delivery: "not_sent" });
    expect(timesAsked(server, "prompts/get")).toBe(2);
  });
});

describe("which prompts there are", () => {
  it("H-4: those of connectors that are opened for them, and of no others", async () => {
    const server = await serve(modern({ "prompts/list": gives(listOf('{"name":"p"}')) }));
    const party = new EntryParty({ a: ["tools"], b: ["prompts"] });
    await party.publish("a", server);
    await party.publish("b", server);
    party.missing = [
      { connectorKey: "c", state: "offline", nextAttemptAt: undefined },
      { connectorKey: "d", state: "starting", nextAttemptAt: undefined },
    ];
    party.opened["d"] = ["prompts"];
    const { entries, omitted } = await party.directory.prompts.list(bindingOf(), never);
    expect(entries).toEqual(['{"name":"b_p"}']);
    expect(omitted).toEqual([{ connectorKey: "d", reason: "starting" }]);
    await expect(get(party, "a_p")).rejects.toMatchObject({ code: "unknown_prompt", delivery: "not_sent" });
    expect(timesAsked(server, "prompts/list")).toBe(1);
  });

  it("H-18: a name that a server gave twice is left out whole, what is no prompt too, and a wrong member alone", async () => {
    const server = await serve(
      modern({
        "prompts/list": gives(
          listOf('{"name":"twice"}', "1", '{"title":"x"}', '{"name":"twice","title":"y"}', '{"name":"ok","title":7}'),
        ),
      }),
    );
    const party = new EntryParty({ a: ["prompts"] });
    await party.publish("a", server);
    const { entries } = await party.directory.prompts.list(bindingOf(), never);
    expect(entries).toEqual(['{"name":"a_ok"}']);
    expect(party.diagnostics.map(({ kind }) => kind).sort()).toEqual([
      "duplicate_entry",
      "entry_dropped",
      "entry_dropped",
      "member_removed",
    ]);
    await expect(get(party, "a_twice")).rejects.toMatchObject({ code: "unknown_prompt" });
    await party.directory.prompts.list(bindingOf(), never);
    expect(party.diagnostics).toHaveLength(4);
  });

  it("H-24: a dead, a silent and a too large one are left out and named; all failing is an error", async () => {
    const good = await serve(modern({ "prompts/list": gives(listOf('{"name":"p"}')) }));
    const large = await serve(
      modern({ "prompts/list": gives(listOf(`{"name":"p","description":"${"x".repeat(500)}"}`)) }),
    );
    const silent = await serve(modern({ "prompts/list": () => answerNothing() }));
    const refusing = await serve(modern({ "prompts/list": () => answerError(-32603) }));
    const without = await serve(modern({}));
    const kinds = { good, large, silent, refusing, without };
    const opened = Object.fromEntries(Object.keys(kinds).map((key) => [key, ["prompts"]]));
    const clock = new FakeClock();
    const party = new EntryParty(opened, { clock, maxListBytes: 400 });
    for (const [key, server] of Object.entries(kinds)) await party.publish(key, server);
    await clock.advance(1_000);
    const before = clock.pending;
    const listing = party.directory.prompts.list(bindingOf(), never);
    // Its budget is the only one that is left when the others have answered.
    await expect.poll(() => clock.pending, { interval: 5 }).toBe(before + 1);
    await clock.advance(5_000);
    const { entries, omitted } = await listing;
    expect(entries).toEqual(['{"name":"good_p"}']);
    expect(omitted).toEqual([
      { connectorKey: "large", reason: "list_too_large" },
      { connectorKey: "refusing", reason: "peer_error -32603" },
      { connectorKey: "silent", reason: "timeout" },
    ]);
    expect(party.failures).toHaveLength(2);
    const failing = new EntryParty({ refusing: ["prompts"] });
    await failing.publish("refusing", refusing);
    await expect(failing.directory.prompts.list(bindingOf(), never)).rejects.toMatchObject({ code: "peer_error" });
  });

  it("H-24, H-13: a route that fails because it was replaced is asked in its successor", async () => {
    const asked = new Gate();
    const replaced = new Gate();
    const before = await serve(
      modern({
        "prompts/list": async () => {
          asked.open();
          await replaced.opened;
          return answerError(-32603);
        },
      }),
    );
    const party = new EntryParty({ a: ["prompts"] });
    await party.publish("a", before);
    const listing = party.directory.prompts.list(bindingOf(), never);
    await asked.opened;
    await party.publish("a", await serve(modern({ "prompts/list": gives(listOf('{"name":"p"}')) })));
    replaced.open();
    expect(await listing).toEqual({ entries: ['{"name":"a_p"}'], omitted: [] });
  });

  it("H-31: what is denied is neither listed nor got", async () => {
    const server = await serve(
      modern({
        "prompts/list": gives(listOf('{"name":"p"}', '{"name":"q"}')),
        "prompts/get": gives('{"messages":[]}'),
      }),
    );
    const party = new EntryParty({ a: ["prompts"] });
    await party.publish("a", server);
    party.denied.add("a/p");
    expect((await party.directory.prompts.list(bindingOf(), never)).entries).toEqual(['{"name":"a_q"}']);
    await expect(get(party, "a_p")).rejects.toMatchObject({ code: "not_permitted", delivery: "not_sent" });
    expect(timesAsked(server, "prompts/get")).toBe(0);
  });
});

describe("getting over routes", () => {
  const prompt = { "prompts/list": gives(listOf('{"name":"p"}')) };

  it("H-18: wakes a connector without a route, once for all who wait, and waits for it", async () => {
    const server = await serve(modern({ ...prompt, "prompts/get": gives('{"messages":[]}') }));
    const party = new EntryParty({ a: ["prompts"] });
    party.missing = [{ connectorKey: "a", state: "starting", nextAttemptAt: undefined }];
    const getting = Promise.all([get(party, "a_p"), get(party, "a_p")]);
    await expect.poll(() => party.woken).toEqual(["a", "a"]);
    await party.publish("a", server);
    await expect(getting).resolves.toHaveLength(2);
    expect(timesAsked(server, "prompts/list")).toBe(1);
  });

  it("H-18: one that does not come in time is told of as it is", async () => {
    const party = new EntryParty({ a: ["prompts"] }, { wakeBudgetMs: 20 });
    party.missing = [{ connectorKey: "a", state: "offline", nextAttemptAt: 7 }];
    await expect(get(party, "a_p")).rejects.toMatchObject({
      code: "route_unavailable",
      delivery: "not_sent",
      details: { connectorKey: "a", state: "offline", nextAttemptAt: 7 },
    });
  });

  it("H-13: a withdrawn route ends the request at once, honestly", async () => {
    const gate = new Gate();
    const server = await serve(modern({ ...prompt, "prompts/get": () => (gate.open(), answerNothing()) }));
    const party = new EntryParty({ a: ["prompts"] });
    await party.publish("a", server);
    const failed = get(party, "a_p").catch((error: unknown) => error);
    await gate.opened;
    party.routes.fenceAll("device");
    expect(await failed).toMatchObject({
      code: "cancelled",
      delivery: "unknown",
      details: { reason: "route_withdrawn" },
    } satisfies Partial<AnyRemoteConnectorError>);
  });

  it("H-13: a request of which nothing was sent goes once to the successor of its route", async () => {
    const server = await serve(modern({ ...prompt, "prompts/get": gives('{"messages":[]}') }));
    const party = new EntryParty({ a: ["prompts"] });
    const asked = new Gate();
    const authorized = new Gate();
    let isHeld = false;
    const authorize = async (): Promise<Record<string, string>> => {
      if (isHeld) asked.open();
      if (isHeld) await authorized.opened;
      return {};
    };
    await party.publish("a", server, { authorize });
    await party.directory.prompts.list(bindingOf(), never);
    isHeld = true;
    const getting = get(party, "a_p");
    await asked.opened;
    await party.publish("a", server);
    authorized.open();
    const answer = await getting;
    expect(textOf(answer)).toBe('{"messages":[]}');
    expect(timesAsked(server, "prompts/get")).toBe(1);
  });
});

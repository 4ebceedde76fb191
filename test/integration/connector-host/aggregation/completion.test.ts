import { describe, expect, it } from "vitest";
import type { CompletionReference } from "../../../../src/connector-host/local-server/ports.js";
import { bindingOf, EntryParty, ERAS, gives, modern, requestOf, serve, textOf } from "./entry-parties.js";

const RESULT = '{"completion":{"values":["a\\u0062"],"total":18446744073709551616,"hasMore":false,"x":1.0}}';
const argument = { name: "n", value: "v\u0000" };

function complete(party: EntryParty, ref: CompletionReference, more: { context?: object; connectorKey?: string } = {}) {
  const { context, connectorKey } = more;
  const request = requestOf({ ref, argument, context: context && { ...context }, connectorKey });
  return party.directory.complete(bindingOf(), request);
}

describe.each(ERAS)("completion by $era servers", ({ like }) => {
  const methods = {
    "prompts/list": gives('{"prompts":[{"name":"my.prompt"}]}'),
    "resources/list": gives('{"resources":[{"uri":"x:fixed"}]}'),
    "resources/templates/list": gives('{"resourceTemplates":[{"uriTemplate":"x:{id}"}]}'),
    "completion/complete": gives(RESULT),
  };

  it("H-18: of a prompt under its own name, with the result's own bytes", async () => {
    const server = await serve(like(methods));
    const party = new EntryParty({ a: ["prompts"] });
    await party.publish("a", server);
    const [entry = ""] = (await party.directory.prompts.list(bindingOf(), new AbortController().signal)).entries;
    const { name }: { name: string } = JSON.parse(entry);
    const context = { arguments: { known: "1" } };
    expect(textOf(await complete(party, { type: "ref/prompt", name }, { context }))).toBe(RESULT);
    expect(server.requests.at(-1)?.params).toMatchObject({
      ref: { type: "ref/prompt", name: "my.prompt" },
      argument,
      context,
    });
  });

  it("H-28: of a template, or of a URI, by the server that has it", async () => {
    const server = await serve(like(methods));
    const templates = '{"resourceTemplates":[{"uriTemplate":"{+anything}"}]}';
    const other = await serve(
      like({ "resources/templates/list": gives(templates), "completion/complete": gives(RESULT) }),
    );
    const party = new EntryParty({ a: ["resources"], b: ["resources"] });
    await party.publish("a", server);
    await party.publish("b", other);
    for (const uri of ["x:{id}", "x:fixed"]) {
      await complete(party, { type: "ref/resource", uri });
      expect(server.requests.at(-1)?.params["ref"]).toEqual({ type: "ref/resource", uri });
    }
    expect(other.requests.filter(({ method }) => method === "completion/complete")).toEqual([]);
  });
});

describe("what can't be completed", () => {
  it("H-18, H-28: what belongs to nobody, or to several and none is chosen", async () => {
    const server = await serve(
      modern({
        "resources/list": gives('{"resources":[]}'),
        "resources/templates/list": gives('{"resourceTemplates":[{"uriTemplate":"x:{id}"}]}'),
        "completion/complete": gives(RESULT),
      }),
    );
    const party = new EntryParty({ a: ["resources"], b: ["resources"] });
    await party.publish("a", server);
    await party.publish("b", server);
    const ref = { type: "ref/resource", uri: "x:{id}" } as const;
    await expect(complete(party, ref)).rejects.toMatchObject({ code: "ambiguous_resource", delivery: "not_sent" });
    await complete(party, ref, { connectorKey: "b" });
    await expect(complete(party, { type: "ref/resource", uri: "y:{id}" })).rejects.toMatchObject({
      code: "resource_not_found",
      delivery: "not_sent",
    });
    await expect(complete(party, { type: "ref/prompt", name: "a_p" })).rejects.toMatchObject({
      code: "unknown_prompt",
      delivery: "not_sent",
    });
    await expect(complete(party, ref, { connectorKey: "b", context: { arguments: { n: 1 } } })).rejects.toMatchObject({
      code: "invalid_argument",
      delivery: "not_sent",
    });
  });
});

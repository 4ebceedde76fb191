import { describe, expect, it } from "vitest";
import { type ListKind, Listeners } from "../../../../src/connector-host/local-server/listeners.js";
import type { Binding } from "../../../../src/connector-host/local-server/ports.js";
import {
  type Answer,
  answerFeed,
  EventFeed,
  messageEvent,
  notificationMessage,
  type ReceivedRequest,
} from "../../../../src/testing/index.js";
import { FakeClock } from "../../../support/fake-clock.js";
import { bindingOf, EntryParty, gives, type Methods, modern, resultOf, serve } from "./entry-parties.js";

const never = new AbortController().signal;

function listening(party: EntryParty, binding: Binding, ...kinds: ListKind[]): string[] {
  const listeners = new Listeners();
  party.directory.listenFor(listeners);
  const heard: string[] = [];
  listeners.add({ binding, lists: new Set(kinds), notify: (method) => void heard.push(method) });
  return heard;
}

const prompts = (...names: string[]): Methods => ({
  "prompts/list": gives(JSON.stringify({ prompts: names.map((name) => ({ name })) })),
});

describe("news of lists beside tools", () => {
  it("H-25: of prompts: an agent is told when what it was given is another, and only then", async () => {
    const party = new EntryParty({ a: ["prompts"], b: ["tools"] });
    await party.publish("a", await serve(modern(prompts("p"))));
    const binding = bindingOf();
    const heard = listening(party, binding, "prompts", "resources");
    await party.directory.prompts.list(binding, never);
    await party.publish("a", await serve(modern(prompts("p"))));
    await party.publish("b", await serve(modern(prompts("p"))));
    await party.directory.prompts.list(binding, never);
    await party.publish("a", await serve(modern(prompts("p", "q"))));
    await expect.poll(() => heard, { interval: 10 }).toEqual(["notifications/prompts/list_changed"]);
    await party.directory.prompts.list(binding, never);
    await party.routes.remove("device", "a", 4);
    await expect.poll(() => heard, { interval: 10 }).toHaveLength(2);
  });

  it("H-24 H-25: prompts that came too late for a list are told of, and then listed at once", async () => {
    const clock = new FakeClock();
    const party = new EntryParty({ a: ["prompts"], slow: ["prompts"] }, { clock });
    const held: (() => void)[] = [];
    const answer = resultOf(JSON.stringify({ prompts: [{ name: "p" }] }));
    const list = () => new Promise<Answer>((resolve) => held.push(() => resolve(answer)));
    await party.publish("a", await serve(modern(prompts("p"))));
    await party.publish("slow", await serve(modern({ "prompts/list": list })));
    const binding = bindingOf();
    const heard = listening(party, binding, "prompts");
    const first = party.directory.prompts.list(binding, never);
    // Nothing but the budget of the slow one is left.
    const left = () => clock.advance(20).then(() => [held.length, clock.pending]);
    await expect.poll(left, { interval: 5 }).toEqual([1, 1]);
    await clock.advance(5_000);
    expect((await first).omitted).toEqual([{ connectorKey: "slow", reason: "timeout" }]);
    held[0]?.();
    await expect
      .poll(() => clock.advance(40).then(() => heard), { interval: 5 })
      .toEqual(["notifications/prompts/list_changed"]);
    expect((await party.directory.prompts.list(binding, never)).entries).toHaveLength(2);
    expect(held).toHaveLength(1);
  });

  it("H-25: of resources and templates: what their server tells is passed on when it is true of what was given", async () => {
    let uris = ["x:1"];
    let templates = ["x:{id}"];
    let feed: { readonly events: EventFeed; readonly id: unknown } | undefined;
    const listen = ({ notifications }: Readonly<Record<string, unknown>>, { id }: ReceivedRequest) => {
      feed = { events: new EventFeed(), id };
      tell("notifications/subscriptions/acknowledged", { notifications });
      return answerFeed(feed.events);
    };
    const tell = (method: string, params: object = {}): void => {
      const _meta = { "io.modelcontextprotocol/subscriptionId": feed?.id };
      feed?.events.send(messageEvent(notificationMessage(method, { _meta, ...params })));
    };
    const server = await serve(
      modern({
        "resources/list": () => resultOf(JSON.stringify({ resources: uris.map((uri) => ({ uri })) })),
        "resources/templates/list": () =>
          resultOf(JSON.stringify({ resourceTemplates: templates.map((uriTemplate) => ({ uriTemplate })) })),
        "subscriptions/listen": listen,
      }),
    );
    const party = new EntryParty({ a: ["resources"] });
    await party.publish("a", server);
    const binding = bindingOf();
    const heard = listening(party, binding, "resources");
    await party.directory.resources.list(binding, never);
    await party.directory.resources.listTemplates(binding, never);
    await expect.poll(() => feed?.events.listeners, { interval: 5 }).toBe(1);
    tell("notifications/resources/list_changed");
    uris = ["x:1", "x:2"];
    tell("notifications/resources/list_changed");
    await expect.poll(() => heard, { interval: 10 }).toEqual(["notifications/resources/list_changed"]);
    await party.directory.resources.list(binding, never);
    templates = [];
    tell("notifications/resources/list_changed");
    await expect.poll(() => heard, { interval: 10 }).toHaveLength(2);
  });
});

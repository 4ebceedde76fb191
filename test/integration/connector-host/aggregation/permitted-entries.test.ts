import { expect, it } from "vitest";
import { Listeners } from "../../../../src/connector-host/local-server/listeners.js";
import { FakeClock } from "../../../support/fake-clock.js";
import { bindingOf, EntryParty, modern, requestOf, resultOf, serve } from "./entry-parties.js";

it("H-31, H-25: an agent is not told of what it may not see, and what it may not see is known all the same", async () => {
  const clock = new FakeClock();
  const party = new EntryParty({ a: ["prompts"] }, { clock });
  party.denied.add("a/hidden").add("a/more");
  let names = ["hidden", "shown"];
  const list = () => resultOf(JSON.stringify({ prompts: names.map((name) => ({ name })) }));
  const server = await serve(modern({ "prompts/list": list }));
  const listeners = new Listeners();
  party.directory.listenFor(listeners);
  const binding = bindingOf();
  const heard: string[] = [];
  listeners.add({ binding, lists: new Set(["prompts"]), notify: (method) => void heard.push(method) });
  const { signal } = new AbortController();
  const get = (name: string) => party.directory.prompts.get(binding, name, requestOf({ argumentsText: undefined }));
  const refused = { code: "not_permitted", delivery: "not_sent" };
  await party.publish("a", server);
  expect((await party.directory.prompts.list(binding, signal)).entries).toEqual(['{"name":"a_shown"}']);
  clock.step(1_000);

  names = ["hidden", "more", "shown"];
  await expect(get("a_more")).rejects.toMatchObject(refused);
  await party.publish("a", server);
  clock.step(1_000);
  await expect(get("a_hidden")).rejects.toMatchObject(refused);
  expect(heard).toEqual([]);

  names = ["hidden", "shown", "too"];
  await party.publish("a", server);
  clock.step(1_000);
  await expect.poll(() => heard, { interval: 5 }).toEqual(["notifications/prompts/list_changed"]);
});

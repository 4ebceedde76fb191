import { expect, it } from "vitest";
import { loginOf } from "../../../../src/connector-host/host/create-approvals.js";

const base = { workspaceId: "w", agentSessionId: "s", invocation: undefined, login: undefined };
const ada = (generation: number) => ({ accountId: "ada", generation });
const durable = (accountId: string | undefined) => ({ ...base, durable: { name: "d", accountId } });

it("H-32: approvals of a session are its own sign-in's, those of a durable binding its account's present one's", () => {
  const session = { ...base, login: ada(1) };
  expect(loginOf(session, ada(1))).toBe(loginOf(session, undefined));
  expect(loginOf(session, ada(1))).not.toBe(loginOf({ ...base, login: ada(2) }, ada(1)));
  const texts = [ada(1), ada(2), undefined].map((current) => loginOf(durable("ada"), current));
  expect(new Set(texts).size).toBe(3);
  expect(loginOf(durable("bob"), ada(1))).toBe(loginOf(durable("bob"), undefined));
  expect(loginOf(durable(undefined), ada(1))).toBe(loginOf(durable(undefined), undefined));
});

import type { Chance } from "./chance.js";
import { type Wish, WISH_KEYS, WISHES } from "./wishes.js";
import {
  type Account,
  ACCOUNTS,
  AUTHORIZED_KEYS,
  type Behaviour,
  type Key,
  OPEN_KEY,
  type Trouble,
  type World,
} from "./world.js";

/** One thing that happens to a host's world, or that a user or an agent does. */
export type Step =
  | { readonly do: "grant" | "revoke" | "expire" | "renew"; readonly account: Account; readonly key: Key }
  /** The same, by what the user does on this device, if the account is the one that is signed in. */
  | { readonly do: "authorize" | "disconnect"; readonly account: Account; readonly key: Key }
  /** The same snapshot again. */
  | { readonly do: "confirm" }
  | { readonly do: "epoch"; readonly account: Account }
  /** The next answer of the control plane is this one: a late snapshot, or a refusal. */
  | { readonly do: "trouble"; readonly answer: Trouble }
  | { readonly do: "behave"; readonly key: Key; readonly behaviour: Behaviour }
  | { readonly do: "call"; readonly key: string }
  | { readonly do: "sign_in"; readonly account: Account }
  | { readonly do: "sign_out" }
  | ({ readonly do: "wish" } & Wish)
  /** The control plane tells of more connections than there is room for, and revokes one of those that there are. */
  | { readonly do: "fill"; readonly account: Account; readonly key: Key; readonly count: number };

const STEPS = 8;
/** Where there is little room, this one takes it. */
const FIRST_FILL = 1;

const DEEDS = [
  ...times(3, "grant"),
  ...times(3, "revoke"),
  ...times(3, "renew"),
  ...times(2, "switch"),
  ...times(1, "expire"),
  ...times(3, "authorize"),
  ...times(1, "disconnect"),
  ...times(2, "confirm"),
  ...times(1, "epoch"),
  ...times(2, "trouble"),
  ...times(4, "behave"),
  ...times(3, "call"),
  ...times(2, "sign_in"),
  ...times(1, "sign_out"),
  ...times(9, "wish"),
] as const;

const BEHAVIOURS = ["slow", "slow", "broken", "busy", "demanding", "demanding_again", "senseless", "working"] as const;

/** What happens in one life of a host. Depends on chance alone. */
export function writeScript(chance: Chance, isSmall: boolean): readonly Step[] {
  return Array.from({ length: STEPS }, (_, place) => {
    const account = chance.next() < 0.8 ? ACCOUNTS[0] : ACCOUNTS[1];
    const key = chance.pick(AUTHORIZED_KEYS);
    if (isSmall && (place === FIRST_FILL || chance.next() < 0.15))
      return { do: "fill", account, key, count: 600 + chance.below(1_400) } as const;
    const deed = chance.pick(DEEDS);
    // People do what they do again when there was no room; what comes of that is no business of this.
    return stepOf(isSmall && deed === "wish" ? "call" : deed, chance, account, key);
  });
}

function stepOf(deed: (typeof DEEDS)[number], chance: Chance, account: Account, key: Key): Step {
  switch (deed) {
    case "switch":
      return { do: "grant", account, key };
    case "grant":
    case "revoke":
    case "renew":
    case "expire":
    case "authorize":
    case "disconnect":
      return { do: deed, account, key };
    case "confirm":
    case "sign_out":
      return { do: deed };
    case "epoch":
    case "sign_in":
      return { do: deed, account };
    case "trouble":
      return { do: "trouble", answer: chance.pick<Trouble>(["previous", "previous", "late", 503, 401]) };
    case "behave":
      return { do: "behave", key, behaviour: chance.pick(BEHAVIOURS) };
    case "wish":
      return { do: "wish", ...pickWish(chance) };
    case "call":
      return { do: "call", key: chance.next() < 0.8 ? key : OPEN_KEY };
  }
}

/** Anything that people may want. */
export function pickWish(chance: Chance): Wish {
  const key = chance.pick(WISH_KEYS);
  return { key, to: chance.pick<string>(WISHES[key]) };
}

/** What the control plane answers to a host that has just been started, before it answers as it should. */
export function greet(world: World, chance: Chance): void {
  const mood = chance.next();
  if (mood < 0.3) world.troubles.push("late");
  else if (mood < 0.4) world.troubles.push(503);
  else if (mood < 0.45) world.troubles.push("previous");
}

/** Makes the world what it is after a step. */
export function applyStep(world: World, step: Step): void {
  switch (step.do) {
    case "grant":
    case "revoke":
    case "expire":
    case "renew":
      world[step.do](step.account, step.key);
      return;
    case "authorize":
      world.grant(step.account, step.key);
      return;
    case "disconnect":
      world.revoke(step.account, step.key);
      return;
    case "epoch":
      world.beginEpoch(step.account);
      return;
    case "trouble":
      world.troubles.push(step.answer);
      return;
    case "behave":
      world.behave(step.key, step.behaviour);
      return;
    case "sign_in":
      world.wanted = step.account;
      return;
    case "sign_out":
      world.wanted = undefined;
      return;
    case "wish":
      world.wishes.want(step);
      return;
    case "fill":
      world.revokeSome(step.account, step.key);
      world.fill(step.account, step.count);
      return;
    case "confirm":
    case "call":
      return;
  }
}

function times<const T>(count: number, thing: T): T[] {
  return Array.from({ length: count }, () => thing);
}

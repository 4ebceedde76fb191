import type { Finding } from "./finding.js";
import type { HostProcess } from "./host-process.js";

/** What people do about connectors, by key: switches, a release that is installed, a server that is registered. */
export const WISHES = {
  alpha: ["on", "off"],
  beta: ["on", "off"],
  gamma: ["on", "off"],
  delta: ["on", "off"],
  extra: ["none", "1.0.0", "2.0.0"],
  docs: ["none", "paused", "active"],
} as const;

export type WishKey = keyof typeof WISHES;

/** The release that is installed, and the server that is registered. */
export const INSTALLED_KEY = "extra" satisfies WishKey;
export const REGISTERED_KEY = "docs" satisfies WishKey;

export interface Wish {
  readonly key: WishKey;
  readonly to: string;
}

export const WISH_KEYS: readonly WishKey[] = Object.keys(WISHES).filter(isWishKey);

const OFF: ReadonlySet<string> = new Set(["off", "none", "paused"]);

/** Whether nothing of a connector may run after this. */
export function isOff({ to }: Pick<Wish, "to">): boolean {
  return OFF.has(to);
}

/** What people want of connectors, and what a host may have of it after it was killed: what it said was done last, or what it was at. */
export class Wishes {
  readonly #wanted = new Map<WishKey, string>();
  readonly #possible = new Map<WishKey, Set<string>>();

  constructor() {
    for (const key of WISH_KEYS) {
      const first = key === INSTALLED_KEY || key === REGISTERED_KEY ? "none" : "on";
      this.#wanted.set(key, first);
      this.#possible.set(key, new Set([first]));
    }
  }

  want({ key, to }: Wish): void {
    this.#wanted.set(key, to);
  }

  wanted(key: WishKey): string {
    return this.#wanted.get(key) ?? "";
  }

  /** Whether this is all that is wanted. */
  isWanted(found: Readonly<Record<string, string>>): boolean {
    return WISH_KEYS.every((key) => found[key] === this.#wanted.get(key));
  }

  /** Asks a host for something, which it has, or may have, from now on. */
  async ask(host: HostProcess, { key, to }: Wish): Promise<void> {
    const possible = this.#possible.get(key);
    possible?.add(to);
    // It begins paused, and is paused before it goes.
    if (key === REGISTERED_KEY) possible?.add("paused");
    const reply = await host.send({ do: "wish", key, to });
    if (reply?.kind === "done") this.#possible.set(key, new Set([to]));
  }

  /** What a host that was just started has is what was done, or what was being done. Then it is asked for the rest. */
  async settle(host: HostProcess): Promise<readonly Finding[]> {
    const reply = await host.send({ do: "catalog" });
    if (reply?.kind !== "catalog") return [];
    const findings: Finding[] = [];
    for (const key of WISH_KEYS) {
      const found = reply.found[key] ?? "missing";
      // An update may be half done: it goes on.
      const [newest = ""] = found.split(" before ");
      const possible = this.#possible.get(key) ?? new Set();
      if (!possible.has(newest))
        findings.push({ check: "catalog", says: `${key} is ${found}, not ${[...possible].join(" or ")}` });
      this.#possible.set(key, new Set([newest]));
      const to = this.wanted(key);
      if (newest !== to) await this.ask(host, { key, to });
    }
    return findings;
  }
}

function isWishKey(name: string): name is WishKey {
  return Object.hasOwn(WISHES, name);
}

/**
 * A whole connector host that can be ended at any point of what it does: `chaos-host ORDER`, with a `HostOrder` as JSON. Its parent
 * tells it over the channel of `fork` what a user would do. It writes down what happens, and ends with its parent.
 */
import { chmodSync } from "node:fs";
import { ConnectorHost, DirectFactory, RegistrationFiles } from "remote-connector/connector-host";
import { openSqliteStore } from "remote-connector/store";
import { Chance } from "../chaos/chance.js";
import { EventReader } from "../chaos/event-reader.js";
import { fastClock } from "../chaos/fast-clock.js";
import { Generations } from "../chaos/generations.js";
import { Journal } from "../chaos/journal.js";
import { Trigger } from "../chaos/kill-points.js";
import type { Command, CommandMessage, HostOrder, Reply, ReplyMessage } from "../chaos/orders.js";
import { sabotageStore, sabotageUse } from "../chaos/sabotaged-store.js";
import { Undertaker } from "../chaos/undertaker.js";
import { watchFactory } from "../chaos/watched-factory.js";
import { describeCatalog, grant } from "../chaos/granted-wishes.js";
import { watchRegistrations } from "../chaos/watched-registrations.js";
import { WatchedStore } from "../chaos/watched-store.js";
import { isOff, type Wish } from "../chaos/wishes.js";
import { releaseOf } from "../support/releases.js";

const order: HostOrder = JSON.parse(process.argv[2] ?? "");
const { directory, baseUrl, life, sabotage } = order;
const chance = new Chance("host", order.seed, life);
const journal = new Journal(order.journal);
const generations = new Generations();
const undertaker = new Undertaker(chance);
const trigger = new Trigger(({ point, nth }) => {
  journal.write({ t: "kill", point, nth });
  undertaker.end(point);
});
const { at } = trigger;

journal.write({ t: "life", life });
await arm(order.kill);
process.on("disconnect", () => process.exit(0));

const hostInfo = { name: "chaos", version: "1.0.0" };
const inner = await openSqliteStore({
  directory,
  ...(order.maxFileBytes === null ? {} : { maxFileBytes: order.maxFileBytes }),
});
if (sabotage === "open_files") chmodSync(`${directory}/host.db`, 0o644);
const watched = new WatchedStore({ store: sabotageStore(inner, sabotage), journal, at, generations });
const reader = new EventReader(journal, at, sabotage, order.lastEvent);
let account = "";
const host = await ConnectorHost.start(
  {
    baseUrl,
    releases: order.keys.map((key) => releaseOf(key, key === order.openKey ? { authorization: { kind: "none" } } : {})),
    accounts: {
      authorize(login) {
        at("authorize");
        return { Cookie: `session=${login.accountId}` };
      },
    },
    hostInfo,
    registrationStore: watchRegistrations(new RegistrationFiles(directory), at),
    factory: (logins) =>
      watchFactory(new DirectFactory({ baseUrl, logins, clientInfo: hostInfo }), at, sabotage === "lose_key"),
    wallClock: fastClock(order.clock.origin, order.clock.speed),
    random: chance.next,
    mintEpoch() {
      const epoch = sabotage === "old_epochs" ? `of ${account}` : crypto.randomUUID();
      journal.write({ t: "login", account, epoch });
      return epoch;
    },
  },
  sabotageUse(watched, sabotage),
);
host.onPublication(({ kind, connectorKey: key, generation }) => {
  const point = kind === "withdrawn" ? "withdrawn" : "published";
  at(point);
  journal.write({ t: "route", kind, key, generation, identity: generations.identityOf(generation) ?? null });
  at(point);
});
let isClosing = false;
const reading = reader.follow(host.events).catch((error: unknown) => {
  // A store that is closed is no place to read from.
  if (!isClosing) throw error;
});
process.on("message", (message: CommandMessage) => void answer(message));
say({ id: 0, reply: { kind: "done" } });

async function answer({ id, command }: CommandMessage): Promise<void> {
  say({ id, reply: await obey(command) });
}

async function obey(command: Command): Promise<Reply> {
  switch (command.do) {
    case "sign_in":
      signOut();
      account = command.account;
      at("sign_in");
      host.signIn(account);
      at("signed_in");
      return { kind: "done" };
    case "sign_out":
      signOut();
      return { kind: "done" };
    case "refresh":
      host.refresh();
      return { kind: "done" };
    case "authorize":
      host
        .authorize(command.key, { replace: true })
        .then(({ result }) => result)
        .catch(() => undefined);
      return { kind: "done" };
    case "disconnect":
      host.disconnect(command.key).catch(() => undefined);
      return { kind: "done" };
    case "flows": {
      const flows = await host.authorizations();
      return { kind: "flows", states: flows.map(({ state }) => state) };
    }
    case "wish":
      return fulfil(command);
    case "catalog":
      return { kind: "catalog", found: describeCatalog(host) };
    case "status": {
      const status = await host.status();
      return {
        kind: "status",
        status: status.map(({ connectorKey, state, reason }) => ({ connectorKey, state, reason })),
      };
    }
    case "bind": {
      const { url, headers } = host.bind({ workspaceId: "w", agentSessionId: "s" });
      return { kind: "bound", url, headers };
    }
    case "arm":
      await arm(command.kill);
      return { kind: "done" };
    case "read_on":
      await reader.reached(await host.events.position());
      return { kind: "done" };
    case "close":
      isClosing = true;
      await host.close();
      await reading;
      process.disconnect();
      return { kind: "done" };
  }
}

/** Does what people want, and writes down that it was asked for, and that it was done. */
async function fulfil(wish: Wish): Promise<Reply> {
  const { key } = wish;
  journal.write({ t: "wish", key, isOff: isOff(wish), isDone: false });
  at("wish");
  try {
    if (sabotage !== "lose_wishes") await grant(host, wish, baseUrl);
  } catch {
    return { kind: "refused" };
  }
  journal.write({ t: "wish", key, isOff: isOff(wish), isDone: true });
  at("wish");
  return { kind: "done" };
}

function signOut(): void {
  if (host.login === undefined) return;
  host.signOut();
  journal.write({ t: "logout" });
}

async function arm(kill: HostOrder["kill"]): Promise<void> {
  if (kill === null) return;
  if (kill.point === "commit") await undertaker.wait();
  trigger.arm(kill);
}

function say(message: ReplyMessage): void {
  process.send?.(message);
}

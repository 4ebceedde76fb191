import type { LegacyStdioClient } from "../legacy-client/index.js";
import { isJsonObject, type Notification } from "../protocol/index.js";
import type { ListenFilter, UpstreamListenOptions } from "./upstream.js";

/** The lists of whose changes a session tells, by the member of a filter. */
const LISTS = [
  ["toolsListChanged", "tools"],
  ["promptsListChanged", "prompts"],
  ["resourcesListChanged", "resources"],
] as const;

interface WantedResource {
  claims: number;
  /** Whether the server tells of it. Never rejects. */
  readonly isTaken: Promise<boolean>;
}

/** Subscriptions to a legacy upstream: filters over what its session tells. A resource is asked for once, however many listen. */
export class LegacyListening {
  readonly #listeners = new Set<(notification: Notification) => void>();
  readonly #wanted = new Map<string, WantedResource>();
  /** Ends each subscription that is open. */
  readonly #ends = new Set<() => void>();
  #isWatching = false;
  #isGone = false;

  /** What the session tells. */
  readonly onNotification = (notification: Notification): void => {
    for (const listener of this.#listeners) listener(notification);
  };

  /** Resolves when the signal fires, or the upstream is gone. */
  async listen(client: LegacyStdioClient, wanted: ListenFilter, options: UpstreamListenOptions): Promise<void> {
    const { signal, onAcknowledged, onNotification } = options;
    const uris = new Set(declares(client, "resources", "subscribe") ? wanted.resourceSubscriptions : []);
    const filter: Record<string, unknown> = {};
    for (const [flag, capability] of LISTS) {
      if (wanted[flag] === true && declares(client, capability, "listChanged")) filter[flag] = true;
    }
    // What is told before the acknowledgement is told behind it: of each subject once.
    const early = new Map<string, Notification>();
    let isAcknowledged = false;
    const listener = (notification: Notification): void => {
      const subject = this.#subjectOf(notification, filter, uris);
      if (subject === undefined) return;
      if (isAcknowledged) onNotification(notification);
      else early.set(subject, notification);
    };
    // Before the server has answered: what it tells right behind its answer is heard, too.
    this.#listeners.add(listener);
    try {
      const over = this.#over(client, signal);
      const claims = Array.from(uris, async (uri) => ((await this.#claim(client, uri)) ? [uri] : []));
      const taken = await Promise.race([Promise.all(claims), over]);
      if (taken === undefined) return;
      const resources = wanted.resourceSubscriptions === undefined ? {} : { resourceSubscriptions: taken.flat() };
      onAcknowledged({ ...filter, ...resources });
      isAcknowledged = true;
      for (const notification of early.values()) onNotification(notification);
      early.clear();
      await over;
    } finally {
      this.#listeners.delete(listener);
      for (const uri of uris) this.#release(client, uri);
    }
  }

  /** Resolves when the signal fires, or the upstream is gone. */
  #over(client: LegacyStdioClient, signal: AbortSignal): Promise<undefined> {
    // Once for all: what each subscription waits for would stay with the process as long as that lives.
    if (!this.#isWatching) {
      this.#isWatching = true;
      void client.exited.then(() => {
        this.#isGone = true;
        for (const end of this.#ends) end();
      });
    }
    return new Promise((resolve) => {
      const end = (): void => {
        this.#ends.delete(end);
        signal.removeEventListener("abort", end);
        resolve(undefined);
      };
      this.#ends.add(end);
      signal.addEventListener("abort", end);
      if (signal.aborted || this.#isGone) end();
    });
  }

  /** What of a subscription a notification is about; `undefined` for one that is not for it. */
  #subjectOf(
    { method, params }: Notification,
    filter: Readonly<Record<string, unknown>>,
    uris: ReadonlySet<string>,
  ): string | undefined {
    const list = LISTS.find(([, capability]) => method === `notifications/${capability}/list_changed`);
    if (list !== undefined) return filter[list[0]] === true ? list[0] : undefined;
    const uri = isJsonObject(params) ? params["uri"] : undefined;
    if (method !== "notifications/resources/updated" || typeof uri !== "string" || uris.size === 0) return undefined;
    if (uris.has(uri)) return `resource ${uri}`;
    // One that nobody asked for lies below one that somebody did, and the server alone knows which.
    return this.#wanted.has(uri) ? undefined : "below";
  }

  #claim(client: LegacyStdioClient, uri: string): Promise<boolean> {
    let wanted = this.#wanted.get(uri);
    if (wanted === undefined) {
      const isTaken = client.subscribeResource({ uri }).then(yes, no);
      wanted = { claims: 0, isTaken };
      this.#wanted.set(uri, wanted);
    }
    wanted.claims += 1;
    return wanted.isTaken;
  }

  #release(client: LegacyStdioClient, uri: string): void {
    const wanted = this.#wanted.get(uri);
    if (wanted === undefined) return;
    wanted.claims -= 1;
    if (wanted.claims > 0) return;
    this.#wanted.delete(uri);
    client.unsubscribeResource({ uri }).catch(no);
  }
}

function declares({ capabilities }: LegacyStdioClient, capability: string, flag: string): boolean {
  const declared = capabilities[capability];
  return isJsonObject(declared) && declared[flag] === true;
}

function yes(): boolean {
  return true;
}

function no(): boolean {
  return false;
}

/** What a connector is at, as a host says it. Absent members: there is nothing to say. Times are epoch milliseconds. */
export interface ControlledConnector {
  readonly connectorKey: string;
  /** A `ConnectorState`; from a host of another version it can be a word that this one doesn't know. */
  readonly state: string;
  readonly reason: string | undefined;
  readonly since: number | undefined;
  readonly nextAttemptAt: number | undefined;
}

/** A file of a registration that could not be read, and why, in words. */
export interface ControlledIssue {
  readonly file: string;
  /** The member at fault; `""` for the file as a whole. */
  readonly member: string;
  readonly reason: string;
}

/** Who uses the host's local server now. */
export interface ControlledAgents {
  /** Agent sessions with a bearer. */
  readonly bindings: number;
  readonly durableBindings: number;
  /** MCP sessions of revisions before 2026-07-28. */
  readonly sessions: number;
  /** Streams on which changes are told. */
  readonly listeners: number;
  /** Requests that are being answered. */
  readonly requests: number;
}

/** A host and its connectors, as it says it over its control socket. */
export interface HostStatus {
  /** Who the host says it is. */
  readonly host: { readonly name: string; readonly version: string };
  readonly processId: number;
  /** Of Node, such as `v20.19.0`. */
  readonly nodeVersion: string;
  /** The endpoint of its local server. A bearer for it is the host's to give, and can't be had here. */
  readonly url: string;
  /** Who is signed in. */
  readonly login: { readonly accountId: string; readonly generation: number } | undefined;
  /** Every connector, of the account and of the device, by key. */
  readonly connectors: readonly ControlledConnector[];
  /** Registrations that could not be read when the host started. None are said by an older host. */
  readonly issues: readonly ControlledIssue[];
  /** Whether connectors of the account, and of the device, are published; `undefined` from an older host. */
  readonly gates: { readonly account: "open" | "closed"; readonly device: "open" | "closed" } | undefined;
  /** `undefined` from an older host. */
  readonly agents: ControlledAgents | undefined;
}

/** The host, as its control socket asks it. */
export interface HostControl {
  status(): Promise<HostStatus>;
  refresh(): void;
}

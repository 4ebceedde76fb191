/** What a connector is at, as a host says it. Absent members: there is nothing to say. Times are epoch milliseconds. */
export interface ControlledConnector {
  readonly connectorKey: string;
  /** A `ConnectorState`; from a host of another version it can be a word that this one doesn't know. */
  readonly state: string;
  readonly reason: string | undefined;
  readonly since: number | undefined;
  readonly nextAttemptAt: number | undefined;
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
  /** Every installed connector, by key. */
  readonly connectors: readonly ControlledConnector[];
}

/** The host, as its control socket asks it. */
export interface HostControl {
  status(): Promise<HostStatus>;
  refresh(): void;
}

import type { Diagnostic } from "../../protocol/index.js";
import type { SchemaCheck } from "../../protocol/json-schema/index.js";
import type { Clock } from "../../transport/index.js";
import type { RemoteMcpClient } from "../factories/index.js";
import type { Binding } from "../local-server/index.js";
import type { NameDiagnostic, NamespaceTable, ToolIdentity } from "../naming/index.js";
import type { AdmissionPins, Route, RouteTable } from "../routes/index.js";

/** What a connector is opened for, and how its lists are made. */
export interface ConnectorTraits {
  /** What it may be used for: `tools`, `prompts`, `resources` and whatever else its release or registration states. */
  readonly capabilities: readonly string[];
  /** Whether an agent's list asks its server, or is served from the last full list of the same settings. */
  readonly listing: "live" | "catalog";
  /** Whether a call is made with the contract as it is listed now, or as it was listed last. */
  readonly contracts: "reread" | "last_list";
  /** The origin of its server: streams to one origin are counted together. Left out: one for all of its scope. */
  readonly origin?: string | undefined;
  /** Digest of its settings now, as its routes have it. A catalog of others is not shown. Left out: that of its route. */
  readonly settingsDigest?: string | undefined;
}

/** What may be done with tools. Asked for each tool of a list and at each call: every answer is a look-up. */
export interface ToolAccess {
  /** `off`: neither listed nor called. `ask`: listed, and each call needs an approval. By the name that its server has for it. */
  ofTool(connectorKey: string, nativeName: string): "off" | "ask" | "allow";
  /** Whether any tool of the connector may be called. */
  mayHoldTools(connectorKey: string): boolean;
  /** Another number after each change of what the above say of the connector; `undefined` for one that is not there. */
  version(connectorKey: string): number | undefined;
  /** What must still hold when a call is sent that was allowed now. */
  pins(connectorKey: string): AdmissionPins | undefined;
}

/** Why a list leaves a tool out. */
export type ListDiagnostic =
  | NameDiagnostic
  /** Its `inputSchema` is not of type `object`: agents refuse a whole list for one that is not. */
  | { readonly kind: "unusable_schema"; readonly tool: ToolIdentity }
  /** There are more than a connector may have. Those after the first `kept` are not there. */
  | {
      readonly kind: "too_many_tools";
      readonly connectorKey: string;
      readonly kept: number;
      readonly leftOut: number;
    }
  /** Its `inputSchema` breaks its own dialect, at a JSON pointer. */
  | { readonly kind: "broken_schema"; readonly tool: ToolIdentity; readonly path: string; readonly reason: string };

/** What the directory asks of the host. */
export interface Reach {
  /** Who may call what. Left out: every tool may be called. */
  readonly access?: ToolAccess | undefined;
  /**
   * The scopes that a binding reaches: that of its account while its login lasts, and that of the device. Empty: nothing any
   * more.
   */
  scopesOf(binding: Binding): readonly string[];
  /** The scopes whose changes a binding is told of: those that it reaches, and those that it reached until now. Left out: the former. */
  followedBy?(binding: Binding): readonly string[];
  /**
   * What the connector is opened for; `undefined` for one that is not known. Left out: every connector is one of a release,
   * opened for tools, listed live and called as the directory's options say.
   */
  describe?(connectorKey: string): ConnectorTraits | undefined;
  /**
   * Whether a prompt, by its native name, or a resource or template, by its URI, may be listed and read. Left out: those of
   * connectors that are opened for them.
   */
  admitsEntry?(connectorKey: string, name: string): boolean;
  /** Connectors of the scopes that should run and have no route, with what they are at. */
  missing(scopes: readonly string[]): Promise<readonly MissingConnector[]>;
  /**
   * What one connector is at that has no route and would have one if all went well, or if its account authorized it; `undefined` for
   * one that should have none.
   */
  missingOne(scopes: readonly string[], connectorKey: string): Promise<MissingConnector | undefined>;
  /** Has a connector of one of the scopes tried now, since a call needs it. */
  wake(scopes: readonly string[], connectorKey: string): void;
  /** Told of what a list of prompts, resources or templates left out or mended, when it is another than the last time. */
  onEntryDiagnostics?(route: Route<RemoteMcpClient>, diagnostics: readonly Diagnostic[]): void;
  /** Told of every failure of a list or a call, with the route that it went over. */
  onFailure(route: Route<RemoteMcpClient>, error: unknown): void;
  /** Told when a list leaves a route's connector out that the one before had, with why; `undefined`: lists have it again. */
  onOmission?(route: Route<RemoteMcpClient>, reason: string | undefined): void;
  /** Told which tools of a connector are left out, whenever that changes. */
  onNameDiagnostics?(connectorKey: string, diagnostics: readonly ListDiagnostic[]): void;
}

export interface MissingConnector {
  readonly connectorKey: string;
  /** A word for what it is at, such as `starting` or `offline`. */
  readonly state: string;
  /** Since when, in epoch milliseconds. */
  readonly since?: number | undefined;
  /** Epoch milliseconds. */
  readonly nextAttemptAt: number | undefined;
}

export interface AggregatedDirectoryOptions {
  readonly routes: RouteTable<RemoteMcpClient>;
  readonly namespaces: NamespaceTable;
  readonly reach: Reach;
  readonly clock: Clock;
  /** How long a list waits for one connector, in milliseconds. */
  readonly listBudgetMs: number;
  /** How long a call waits for a connector that has no route yet, in milliseconds. */
  readonly wakeBudgetMs: number;
  /**
   * How many URIs of lists, as many of results, and as many templates are remembered for each binding, to know whose they are.
   */
  readonly maxRememberedResources: number;
  /** Resources that servers are asked to tell of changes of, for all agents. */
  readonly maxResourceSubscriptions: number;
  /** What holds for connectors that `Reach.describe` says nothing of. */
  readonly contracts: "reread" | "last_list";
  /** Bytes of all definitions in one list. The connectors with the largest lists are left out first. */
  readonly maxListBytes: number;
  /** Tools whose schema it finds fault with are left out. Left out: none is. */
  readonly checkSchema?: SchemaCheck | undefined;
  /** From 0 up to 1: pauses between streams to a server are random in part. */
  readonly random: () => number;
}

import type { Diagnostic } from "../../protocol/index.js";
import type { SchemaCheck } from "../../protocol/json-schema/index.js";
import type { Clock } from "../../transport/index.js";
import type { RemoteMcpClient } from "../factories/index.js";
import type { Delivery } from "../../errors.js";
import type { Binding, Continuation, ForwardedRequest } from "../local-server/index.js";
import type { DescriptionTable } from "./override-descriptions.js";
import type { NameDiagnostic, NamespaceTable, ToolIdentity } from "../naming/index.js";
import type { HeldCallLimits, StateSealer } from "../rounds/index.js";
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
  /** Whether it may be used. The catalog of one that is paused or switched off is neither shown nor read. Left out: it may. */
  readonly isActive?: boolean | undefined;
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
  /** What is to be said in place of its descriptions does not fit its definition. */
  | { readonly kind: "unfit_description"; readonly tool: ToolIdentity; readonly reason: string }
  /** Its `inputSchema` breaks its own dialect, at a JSON pointer. */
  | { readonly kind: "broken_schema"; readonly tool: ToolIdentity; readonly path: string; readonly reason: string };

/** What went wrong with a catalog that is kept, or was to be. */
export interface CatalogFault {
  readonly connectorKey: string;
  /**
   * `not_kept`: it could not be written, and is in memory only. `too_large`: it is not written, and in memory only. `dropped`: what was kept
   * is none, or none of this connector's. `not_read`, `not_removed`: the store failed.
   */
  readonly kind: "not_kept" | "too_large" | "dropped" | "not_read" | "not_removed";
  /** Why it was dropped. */
  readonly reason?: string | undefined;
  readonly error?: unknown;
}

/** Where catalogs are kept that outlive the process, by connector key. The text is opaque. */
export interface CatalogRows {
  read(connectorKey: string): Promise<string | undefined>;
  /** Inserts or replaces, if `mayWrite` still says so in the step in which it is written. */
  write(connectorKey: string, text: string, mayWrite: () => boolean): Promise<void>;
  /** Removes what is kept of the key, if anything is. */
  remove(connectorKey: string): Promise<void>;
}

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
  /**
   * Calls `run` whenever what the connector is at may be another, until the returned function is called. Left out: nobody tells, and
   * what waits for a connector waits until its time is over.
   */
  onStatus?(connectorKey: string, run: () => void): () => void;
  /** Told of what a list of prompts, resources or templates left out or mended, when it is another than the last time. */
  onEntryDiagnostics?(route: Route<RemoteMcpClient>, diagnostics: readonly Diagnostic[]): void;
  /** Told of every failure of a list or a call, with the route that it went over. */
  onFailure(route: Route<RemoteMcpClient>, error: unknown): void;
  /** Told when a list leaves a route's connector out that the one before had, with why; `undefined`: lists have it again. */
  onOmission?(route: Route<RemoteMcpClient>, reason: string | undefined): void;
  /** Told which tools of a connector are left out, whenever that changes. */
  onNameDiagnostics?(connectorKey: string, diagnostics: readonly ListDiagnostic[]): void;
  /**
   * What is said to a binding of a connector's tools in place of what their server says, each table over those before it. Tables never
   * change: other descriptions are another one. Left out: nothing.
   */
  descriptionsOf?(connectorKey: string, binding: Binding): readonly DescriptionTable[];
  /** Told which tools are left out since what is to be said of them does not fit, once for each list in which it does not. */
  onUnfitDescriptions?(connectorKey: string, diagnostics: readonly ListDiagnostic[]): void;
  /** Told what went wrong with catalogs that are kept. */
  onCatalogFault?(fault: CatalogFault): void;
}

/** What a request is about: approvals, held calls and the journal know it by this. */
export interface CallSubject {
  readonly kind: "tool" | "prompt" | "resource" | "completion";
  /** The name that its server has for it; of a resource, its URI. */
  readonly nativeName: string;
  /** The name that the agent knows it by. */
  readonly exposedName: string;
  /** The arguments as they travel: the text of a JSON object. */
  readonly argumentsText: string | undefined;
  /** Whose request it is; `undefined`: a person's own test call. */
  readonly binding: Binding | undefined;
}

/** A request that is about to be made, for the journal. */
export interface JournalEntry {
  readonly subject: CallSubject;
  readonly connectorKey: string;
  readonly scope: string;
  /** Of the route. */
  readonly generation: number;
}

/** How a journaled request ended. `delivery` is the verdict of its last attempt. */
export type JournalEnd =
  | {
      readonly kind: "result";
      readonly raw: Uint8Array;
      readonly resultType: string | undefined;
      readonly isError: boolean;
    }
  /** `code`: of the error; `undefined` for what is no error of this package. */
  | { readonly kind: "failure"; readonly delivery: Delivery; readonly code: string | undefined };

/** Where requests are written down before they are sent. */
export interface CallJournal {
  /**
   * Writes that a request is about to be sent. Resolves once that survives a kill of the process, and rejects with
   * `journal_unavailable` (`not_sent`) when it can't be written and nothing may be sent without it.
   */
  begin(entry: JournalEntry): Promise<JournaledCall>;
}

/** One request that was written down. */
export interface JournaledCall {
  /**
   * Called for each attempt in the last step before it is sent: from the second one on, there is a row for it when this returns. A
   * reason refuses it. Synchronous.
   */
  admit(): string | undefined;
  /** What became of it. Called once. */
  end(end: JournalEnd): void;
}

/** A call of a tool whose permission is `ask`. */
export interface ApprovalQuestion {
  readonly subject: CallSubject;
  readonly binding: Binding;
  readonly connectorKey: string;
  /** What its server calls the tool; `undefined` for nothing. */
  readonly toolTitle: string | undefined;
  /** The account's connection that the route is for; `undefined` for a connector that needs none. */
  readonly connectionId: string | undefined;
  /** Of the route: another one for each sign-in of its account. */
  readonly scopeEpoch: string;
  /** The same for tools that are called alike and, as far as their definitions are known, say the same of themselves. */
  readonly contractDigest: string;
  readonly call: ForwardedRequest;
  /** Whether the call could still be made if it was approved now. Asked while somebody is being asked. */
  stillStands(): boolean;
}

/** What came of asking. A refusal is an error: `approval_required` or `approval_denied` (both `not_sent`). */
export type ApprovalVerdict =
  | {
      readonly kind: "approved";
      /** What the approved call goes on with at its server: a later round of one that was approved before. */
      readonly continuation: Continuation | undefined;
      /**
       * Whether the approval is good, asked in the last step before anything is sent of its call. Used once, it is good for all that
       * the call sends. Synchronous.
       */
      readonly use: () => boolean;
      /** Makes what the server wants to hear again of a state that only this call's later rounds can show. `undefined`: it wants nothing. */
      readonly sealState: (state: string | undefined) => string;
    }
  /** The agent is asked by this result of the type `input_required`. Nothing was sent. */
  | { readonly kind: "asks"; readonly raw: Uint8Array };

/** Who decides on calls that ask. */
export interface ApprovalGate {
  /** Whether anybody is there who could approve a call of the binding. */
  isOpenTo(binding: Binding): boolean;
  /** Whether a request goes on with a state of this gate's, so that nobody else knows what it means. */
  goesOn(request: ForwardedRequest): boolean;
  /**
   * Rejects with `approval_required`, `approval_denied`, `limit_exceeded` and `continuation_refused`: all `not_sent`, also when the request's
   * signal fires, but for a state of which it can't be told that nothing was sent.
   */
  pass(question: ApprovalQuestion): Promise<ApprovalVerdict>;
  /** Denies whatever waits for a binding that is over. */
  endOf?(binding: Binding): void;
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
  /** Where catalogs are kept that outlive the process. Left out: nowhere. */
  readonly catalogs?: CatalogRows | undefined;
  /** Wall time in epoch milliseconds, for when catalogs were read. Left out: that of `clock`. */
  readonly now?: (() => number) | undefined;
  /** Seals what goes on with requests that wait. Left out: one of its own. */
  readonly sealer?: StateSealer | undefined;
  /** How much may wait at servers while agents are asked. */
  readonly heldCalls?: HeldCallLimits | undefined;
  /** How often a modern server may ask before it answers a request, where an agent is asked on its stream. Left out: 10. */
  readonly maxInputRounds?: number | undefined;
  /** Where requests are written down before they are sent. Left out: nowhere. */
  readonly journal?: CallJournal | undefined;
  /** Who decides on calls that ask. Left out: nobody, and each is refused. */
  readonly approvals?: ApprovalGate | undefined;
}

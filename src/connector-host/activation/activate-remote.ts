import { RemoteConnectorError } from "../../errors.js";
import { type DiscoverResult, isJsonObject } from "../../protocol/index.js";
import type { SchemaCheck } from "../../protocol/json-schema/index.js";
import type { RemoteMcpClient, RemoteMcpClientFactory } from "../factories/index.js";
import {
  assertHostVersion,
  type BindingContract,
  localConnectionId,
  type Release,
  releaseDigest,
} from "../release/index.js";
import type { SkillRoot, SkillSource } from "../skills/index.js";
import type { ActivationIdentity, ActivationMemory } from "./activation-memory.js";
import { readAuthorizationDemand } from "./authorization-demand.js";
import { type CheckedToolList, checkToolList } from "./tool-list.js";

/** What is to be activated, and in whose name. Everything in it was fixed when the activation was decided on. */
export interface RemoteActivationRequest {
  /** Names the operation, for traces. */
  readonly operationId: string;
  readonly accountId: string;
  readonly loginGeneration: number;
  readonly generation: number;
  readonly release: Release;
  /** Of the account for this connector, as the projection has it. Not looked at when the release needs none. */
  readonly authorizationState: "connected" | "expired" | "disconnected";
  readonly connectionVersion: bigint;
  /** Revision of the snapshot that says so. */
  readonly serverRevision: bigint;
}

/** What an activation works with. */
export interface RemoteActivationPorts {
  readonly factory: RemoteMcpClientFactory;
  readonly memory: ActivationMemory;
  /** The version of this host, which a release can ask a minimum of. */
  readonly hostVersion: string;
  /** Aborts the activation: it rejects with the signal's reason. */
  readonly signal: AbortSignal;
  /** Tools of one connector. 512 when left out. */
  readonly maxTools?: number | undefined;
  /** Tools whose schema it finds fault with are left out. */
  readonly checkSchema?: SchemaCheck | undefined;
  /** Where the skills of connectors are. Left out: there are none. */
  readonly readSkills?: SkillSource | undefined;
  /** Told when the client of a failed activation could not be closed. */
  readonly onCloseFailure?: ((error: unknown) => void) | undefined;
}

/** A connector that answered, ready to become a route. Whoever gets it owns the client. */
export interface RemoteActivation extends CheckedToolList {
  readonly client: RemoteMcpClient;
  readonly releaseDigest: string;
  readonly connectionId: string;
  readonly discovered: DiscoverResult;
  /** `undefined` for a connector that has no folder of them. */
  readonly skills: SkillRoot | undefined;
  /** The list was remembered from an earlier activation of the same identity; the connector was still asked who it is. */
  readonly isListRemembered: boolean;
}

const MAX_TOOLS = 512;

/**
 * Activates a remote connector: makes a client, asks the server what it is, every time, and lists its tools, unless the same
 * activation listed them before; then its skills are read. Nothing is published.
 *
 * When it fails, the client is closed, and nothing is remembered. Rejects with
 *
 * - `invalid_release` (`not_sent`): the release needs a newer host;
 * - `authorization_required`: `not_sent` when the account's state says so already, else with the delivery of the answer that
 *   said so;
 * - `unsupported_version`, `unsupported` with the feature `tools`, `invalid_answer` (all `answered`): the server doesn't
 *   speak the release's revision, has no tools, lists none that can be used, or asks for an authorization that the release
 *   knows nothing of;
 * - `invalid_skills` (`not_sent`): the folder of its skills can't be used;
 * - what the factory and the client reject with, and the signal's reason, as they are.
 */
export async function activateRemote(
  request: RemoteActivationRequest,
  ports: RemoteActivationPorts,
): Promise<RemoteActivation> {
  const { release } = request;
  ports.signal.throwIfAborted();
  assertHostVersion(release, ports.hostVersion);
  assertAuthorized(request);
  const identity = identityOf(request);
  const client = ports.factory.create({
    operationId: request.operationId,
    connectionId: identity.connectionId,
    connectorKey: release.connectorId,
    accountId: request.accountId,
    releaseDigest: identity.releaseDigest,
    version: release.version,
    generation: request.generation,
    binding: bindingOf(release),
  });
  try {
    return await activateOver(client, identity, request, ports);
  } catch (error) {
    closeUnused(client, ports);
    throw ports.signal.aborted ? ports.signal.reason : explain(error, release);
  }
}

async function activateOver(
  client: RemoteMcpClient,
  identity: ActivationIdentity,
  { release, loginGeneration }: RemoteActivationRequest,
  { memory, signal, checkSchema, readSkills, maxTools = MAX_TOOLS }: RemoteActivationPorts,
): Promise<RemoteActivation> {
  const discovered = await client.discover({ signal });
  signal.throwIfAborted();
  assertDiscovered(discovered, release);
  const remembered = memory.find(identity, loginGeneration);
  const list = remembered ?? checkToolList(await client.listAllTools({ signal }), maxTools, checkSchema);
  signal.throwIfAborted();
  if (list.tools.size === 0) throw unusable(release, "it lists no tool that can be used");
  const { releaseDigest: digest, connectionId } = identity;
  const skills = await readSkills?.(release.connectorId, digest, signal);
  signal.throwIfAborted();
  memory.remember(identity, loginGeneration, list);
  return {
    ...list,
    client,
    releaseDigest: digest,
    connectionId,
    discovered,
    skills,
    isListRemembered: remembered !== undefined,
  };
}

function assertAuthorized({ release, authorizationState }: RemoteActivationRequest): void {
  if (release.authorization.kind === "none" || authorizationState === "connected") return;
  throw authorizationRequired(release, authorizationState === "expired");
}

function assertDiscovered(discovered: DiscoverResult, release: Release): void {
  const { protocolVersion } = release.runtime;
  const supported = discovered.supportedVersions;
  if (!supported.includes(protocolVersion)) {
    throw new RemoteConnectorError("unsupported_version", {
      message: `The server of ${release.connectorId} does not speak ${protocolVersion}, which its release names.`,
      delivery: "answered",
      details: { supported, ours: [protocolVersion] },
    });
  }
  const capabilities: unknown = discovered.capabilities;
  if (isJsonObject(capabilities) && isJsonObject(capabilities["tools"])) return;
  throw new RemoteConnectorError("unsupported", {
    message: `The server of ${release.connectorId} offers no tools.`,
    delivery: "answered",
    details: { feature: "tools" },
  });
}

/** What the failure is, in the terms of a connector. Every other one stays the object that it is. */
function explain(error: unknown, release: Release): unknown {
  const demand = readAuthorizationDemand(error);
  if (demand === undefined) return error;
  if (release.authorization.kind === "none") return misplacedDemand(release, error);
  return authorizationRequired(release, demand.reauthorize, error);
}

function authorizationRequired(
  { connectorId }: Release,
  reauthorize: boolean,
  cause?: unknown,
): RemoteConnectorError<"authorization_required"> {
  return new RemoteConnectorError("authorization_required", {
    message: `The account has to authorize ${connectorId}${reauthorize ? " again" : ""}.`,
    delivery: cause === undefined ? "not_sent" : "answered",
    details: { connectorKey: connectorId, reauthorize },
    cause,
  });
}

/** A connector that needs no authorization has asked for one: a fault of its integration, not of the account. */
export function misplacedDemand(release: Release, cause: unknown): RemoteConnectorError<"invalid_answer"> {
  return unusable(release, "it asks for an authorization it has none of", cause);
}

function unusable({ connectorId }: Release, reason: string, cause?: unknown): RemoteConnectorError<"invalid_answer"> {
  return new RemoteConnectorError("invalid_answer", {
    message: `The server of ${connectorId} can't be used: ${reason}.`,
    delivery: "answered",
    details: { reason },
    cause,
  });
}

function identityOf(request: RemoteActivationRequest): ActivationIdentity {
  const { accountId, release, connectionVersion, serverRevision } = request;
  return {
    accountId,
    connectorKey: release.connectorId,
    releaseDigest: releaseDigest(release),
    connectionId: localConnectionId(accountId, release.connectorId),
    connectionVersion,
    serverRevision,
  };
}

function bindingOf({ runtime }: Release): BindingContract {
  const { protocolVersion, bindingRef, contractVersion, bindingContractHash } = runtime;
  return { protocolVersion, bindingRef, contractVersion, bindingContractHash };
}

/** Nobody waits for it: the failure must reach its owner now. */
function closeUnused(client: RemoteMcpClient, { onCloseFailure }: RemoteActivationPorts): void {
  client.close().catch((error: unknown) => onCloseFailure?.(error));
}

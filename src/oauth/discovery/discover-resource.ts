import { isRemoteConnectorError } from "../../errors.js";
import type { AuthorizationChallenge, ProtectedResource } from "../protected-resource.js";
import type { OAuthAnswer, OAuthRequester } from "../requester.js";
import { discoveryFailed, invalidMetadata } from "./failures.js";
import { classifyMetadataAnswer } from "./metadata-answer.js";
import { readResource, unpublishedResource } from "./read-resource.js";
import { resourceMetadataUrls } from "./well-known-urls.js";

/**
 * Finds what an MCP server publishes of its authorization. The URLs of the challenge are asked first, in order, then the well-known
 * ones, each URL once; without any document the server counts as one of 2025-03-26.
 *
 * - A 4xx, or a page for people, leads to the next URL, and so does a URL of the challenge that can't be asked at all.
 * - A document that breaks a rule, such as one for another resource, ends the search with `oauth_invalid`. Of a challenge that has
 *   several URLs the others are asked before, and no other place is: there is a document, so that there is no default.
 * - 5xx and other answers end it with `oauth_discovery_failed`, failures of the requester as they are, but for `invalid_url` of a URL
 *   of the challenge.
 *
 * Source: 2026-07-28, Protected Resource Metadata Discovery Requirements; RFC 9728, Protected Resource Metadata Validation.
 */
export async function discoverResource(
  requester: OAuthRequester,
  endpoint: URL,
  challenge: AuthorizationChallenge | undefined,
  signal?: AbortSignal,
): Promise<ProtectedResource> {
  const asked = new Set<string>();
  let broken: unknown;
  for (const candidate of challenge?.resourceMetadata ?? []) {
    const url = URL.canParse(candidate) ? new URL(candidate).href : candidate;
    if (asked.has(url)) continue;
    asked.add(url);
    try {
      const found = await askCandidate(requester, endpoint, url, signal);
      if (found !== undefined) return found;
    } catch (error) {
      if (!isRemoteConnectorError(error, "oauth_invalid")) throw error;
      broken ??= error;
    }
  }
  if (broken !== undefined) throw broken;
  for (const url of resourceMetadataUrls(endpoint)) {
    if (asked.has(url)) continue;
    const found = readAnswer(await requester.get(url, signal), endpoint);
    if (found !== undefined) return found;
  }
  return unpublishedResource(endpoint);
}

async function askCandidate(
  requester: OAuthRequester,
  endpoint: URL,
  url: string,
  signal: AbortSignal | undefined,
): Promise<ProtectedResource | undefined> {
  let answer;
  try {
    answer = await requester.get(url, signal);
  } catch (error) {
    if (isRemoteConnectorError(error, "invalid_url")) return undefined;
    throw error;
  }
  return readAnswer(answer, endpoint);
}

/** `undefined`: there is nothing here. */
function readAnswer(answer: OAuthAnswer, endpoint: URL): ProtectedResource | undefined {
  const { url, status } = answer;
  const read = classifyMetadataAnswer(answer);
  switch (read.kind) {
    case "document":
      return readResource(read.document, url, endpoint);
    case "absent":
      return undefined;
    case "broken":
      throw invalidMetadata("resource_metadata", url, "(all of it)", "is no JSON object");
    case "failed":
      throw discoveryFailed(url, status, "the server of the resource's metadata fails");
  }
}

import { expect } from "vitest";
import { readConfigText } from "../../../../src/connector-host/server-import/config-text/index.js";
import { readServers } from "../../../../src/connector-host/server-import/import-servers.js";
import type { ImportOptions, ImportResult } from "../../../../src/connector-host/server-import/index.js";
import { createRegistration } from "../../../../src/connector-host/registration/index.js";
import { ID } from "../registration/registration.fixture.js";

export type Accepted = Extract<ImportResult, { kind: "accepted" }>;

/** `importServers`, without waiting for what reads the text. */
export function imported(text: string, options: ImportOptions = {}): ImportResult {
  return readServers(text, options, readConfigText);
}

/** An import that has to be accepted; a text is taken as it is. */
export function accepted(file: unknown, options?: ImportOptions): Accepted {
  const result = imported(typeof file === "string" ? file : JSON.stringify(file), options);
  if (result.kind === "refused") throw new Error(JSON.stringify(result.refusals));
  return result;
}

/** The members at which an import is refused. */
export function refusedAt(file: unknown, options?: ImportOptions): readonly string[] {
  const result = imported(typeof file === "string" ? file : JSON.stringify(file), options);
  if (result.kind === "accepted") throw new Error("It was accepted.");
  for (const { reason } of result.refusals) expect(reason).not.toBe("");
  return result.refusals.map(({ member }) => member);
}

/** What the only server over HTTP of a file becomes, as it would be stored. */
export function registered({ servers }: Accepted): Record<string, unknown> {
  const [server, ...rest] = servers;
  if (server?.kind !== "registration" || rest.length > 0) throw new Error("It is not one server over HTTP.");
  return JSON.parse(JSON.stringify(createRegistration(server.request, ID)));
}

/** What the only program of a file becomes. */
export function program({ servers }: Accepted): Record<string, unknown> {
  const [server, ...rest] = servers;
  if (server?.kind !== "stdio" || rest.length > 0) throw new Error("It is not one program.");
  return JSON.parse(JSON.stringify(server.connector));
}

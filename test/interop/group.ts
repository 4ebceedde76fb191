import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Revision } from "remote-connector/protocol";
import type { Profile } from "./profile.js";
import type { RowPlan } from "./run-row.js";
import type { HttpServer } from "./start-server.js";
import type { Place } from "./subject.js";

/** A server that runs, or can be run. */
export interface Running {
  readonly place: Place;
  /** By the revision that is spoken, where that matters. */
  readonly profile: (revision: Revision) => Profile;
  stop(): Promise<void>;
}

/** One server over one transport, and the rows for it. */
export interface Group {
  /** The package, and what it is. */
  readonly server: string;
  readonly transport: string;
  readonly rows: readonly RowPlan[];
  start(): Promise<Running>;
}

export const NEWEST_LEGACY: Revision = "2025-11-25";
export const OVER_HTTP: readonly Revision[] = [NEWEST_LEGACY, "2025-06-18", "2025-03-26"];
export const OVER_STDIO: readonly Revision[] = [...OVER_HTTP, "2024-11-05"];

/** The era found by itself, then each revision told. */
export function auto(found: Revision, revisions: readonly Revision[]): readonly RowPlan[] {
  return [{ revision: found, by: "auto" }, ...revisions.map((revision): RowPlan => ({ revision, by: "fixed" }))];
}

type Profiles = Profile | ((revision: Revision) => Profile);

export function stdio(
  server: string,
  transport: string,
  rows: readonly RowPlan[],
  args: readonly string[],
  profiles: Profiles,
): Group {
  const place: Place = { kind: "stdio", command: process.execPath, args };
  return {
    server,
    transport,
    rows,
    start: async () => ({ place, profile: byRevision(profiles), stop: async () => undefined }),
  };
}

export function http(
  server: string,
  transport: string,
  rows: readonly RowPlan[],
  start: () => Promise<HttpServer>,
  profiles: Profiles,
  kind: "http" | "sse" = "http",
): Group {
  return {
    server,
    transport,
    rows,
    async start() {
      const running = await start();
      const place: Place = { kind, endpoint: running.url };
      return { place, profile: byRevision(profiles), stop: () => running.stop() };
    },
  };
}

export function sse(server: string, start: () => Promise<HttpServer>, profile: Profile): Group {
  // Newer revisions have another transport, but servers speak them over this one all the same.
  return http(server, "SSE", auto(NEWEST_LEGACY, ["2024-11-05"]), start, profile, "sse");
}

interface Prepared {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly profile: Profile;
}

/** A server over stdio with a folder of its own. */
export function inFolder(server: string, prepare: (folder: string) => Promise<Prepared>): Group {
  return {
    server,
    transport: "stdio",
    rows: auto(NEWEST_LEGACY, OVER_STDIO),
    async start() {
      const folder = await mkdtemp(join(tmpdir(), "interop-"));
      const { args, env, profile } = await prepare(folder);
      return {
        place: { kind: "stdio", command: process.execPath, args, env },
        profile: byRevision(profile),
        stop: () => rm(folder, { recursive: true, force: true }),
      };
    },
  };
}

function byRevision(profiles: Profiles): (revision: Revision) => Profile {
  return typeof profiles === "function" ? profiles : () => profiles;
}

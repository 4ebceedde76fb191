import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Revision } from "remote-connector/protocol";
import { auto, type Group, http, inFolder, NEWEST_LEGACY, OVER_HTTP, OVER_STDIO, sse, stdio } from "./group.js";
import { programOf } from "./installed.js";
import { EVERYTHING, filesystem, MEMORY, MEMORY_LINE, OWN, OWN_JSON, OWN_STATELESS } from "./profile.js";
import type { RowPlan } from "./run-row.js";
import { startOnPort, startPrinting } from "./start-server.js";

const SDK = "build/test/programs/interop-sdk-server.js";
const BOTH_ERAS = "build/test/programs/interop-server.js";

const MODERN: Revision = "2026-07-28";

export const GROUPS: readonly Group[] = [
  stdio("sdk", "stdio", auto(NEWEST_LEGACY, OVER_STDIO), [SDK, "stdio"], OWN),
  http("sdk", "HTTP, sessions", auto(NEWEST_LEGACY, OVER_HTTP), () => startPrinting([SDK, "sessions"]), OWN),
  http("sdk", "HTTP, sessions, JSON", auto(NEWEST_LEGACY, OVER_HTTP), () => startPrinting([SDK, "json"]), OWN_JSON),
  http(
    "sdk",
    "HTTP, stateless",
    auto(NEWEST_LEGACY, OVER_HTTP),
    () => startPrinting([SDK, "stateless"]),
    OWN_STATELESS,
  ),
  sse("sdk", () => startPrinting([SDK, "sse"]), OWN),
  stdio("server", "stdio", auto(MODERN, [MODERN, ...OVER_STDIO]), [BOTH_ERAS, "stdio"], OWN),
  http(
    "server",
    "HTTP",
    auto(MODERN, [MODERN, ...OVER_HTTP]),
    () => startPrinting([BOTH_ERAS, "http"]),
    (revision) => (revision === MODERN ? OWN : OWN_STATELESS),
  ),
  http("server", "HTTP, sessions", auto(MODERN, OVER_HTTP), () => startPrinting([BOTH_ERAS, "sessions"]), OWN),
  stdio("server-everything", "stdio", auto(NEWEST_LEGACY, OVER_STDIO), [programOf("server-everything")], EVERYTHING),
  http(
    "server-everything",
    "HTTP, sessions",
    auto(NEWEST_LEGACY, OVER_HTTP),
    () => startOnPort([programOf("server-everything"), "streamableHttp"], "/mcp"),
    EVERYTHING,
  ),
  sse("server-everything", () => startOnPort([programOf("server-everything"), "sse"], "/sse"), EVERYTHING),
  inFolder("server-filesystem", async (folder) => {
    const file = join(folder, "a.txt");
    await writeFile(file, "äöü 😀");
    return { args: [programOf("server-filesystem"), folder], env: {}, profile: filesystem(file, "äöü 😀") };
  }),
  inFolder("server-memory", async (folder) => {
    const file = join(folder, "memory.jsonl");
    await writeFile(file, MEMORY_LINE);
    return { args: [programOf("server-memory")], env: { MEMORY_FILE_PATH: file }, profile: MEMORY };
  }),
];

/** Few rows that still reach each client, each era and each way of answering. */
export const QUICK: readonly Group[] = [
  pick("sdk", "stdio", { revision: "2024-11-05", by: "fixed" }),
  pick("sdk", "HTTP, sessions", { revision: NEWEST_LEGACY, by: "auto" }),
  pick("sdk", "HTTP, sessions, JSON", { revision: "2025-06-18", by: "fixed" }),
  pick("sdk", "HTTP, stateless", { revision: "2025-03-26", by: "fixed" }),
  pick("sdk", "SSE", { revision: NEWEST_LEGACY, by: "auto" }),
  pick("server", "stdio", { revision: MODERN, by: "auto" }),
  pick("server", "HTTP", { revision: MODERN, by: "auto" }, { revision: NEWEST_LEGACY, by: "fixed" }),
  pick("server-memory", "stdio", { revision: NEWEST_LEGACY, by: "fixed" }),
];

function pick(server: string, transport: string, ...rows: readonly RowPlan[]): Group {
  const group = GROUPS.find((one) => one.server === server && one.transport === transport);
  if (group === undefined) throw new Error(`no group ${server}, ${transport}`);
  return { ...group, rows };
}

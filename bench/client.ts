/** What a client does, row by row, beside `undici.request` and the official client, in one run against one server process. */
import { parseArgs } from "node:util";
import { type Bar, lineOf, type Row } from "./support/bar.js";
import { reportBars } from "./support/report-bars.js";
import { bigEvent } from "./client/big-event.js";
import { coldStart } from "./client/cold-start.js";
import { connectMany } from "./client/connect-many.js";
import { firstCall } from "./client/first-call.js";
import { firstNotification } from "./client/first-notification.js";
import { idleMemory } from "./client/idle-memory.js";
import { largeJson } from "./client/large-json.js";
import { parameterHeaders } from "./client/parameter-headers.js";
import { progressEvents } from "./client/progress-events.js";
import { smallCalls } from "./client/small-calls.js";
import { streamMemory } from "./client/stream-memory.js";
import { toolLists } from "./client/tool-lists.js";
import { startServer } from "./support/server-process.js";

const ROWS: Readonly<Record<string, Row>> = {
  "small-call": smallCalls,
  "parameter-headers": parameterHeaders,
  "large-json": largeJson,
  "progress-events": progressEvents,
  "stream-memory": streamMemory,
  "big-event": bigEvent,
  "first-notification": firstNotification,
  "cold-start": coldStart,
  "first-call": firstCall,
  connecting: connectMany,
  "idle-memory": idleMemory,
  "tool-lists": toolLists,
};

const { values } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    json: { type: "string" },
    row: { type: "string", multiple: true },
  },
});
const names = values.row ?? Object.keys(ROWS);

const server = await startServer(new URL("./client/payload-server.js", import.meta.url));
const bars: Bar[] = [];
try {
  for (const name of names) {
    const row = ROWS[name];
    if (row === undefined) throw new Error(`no row is called ${name}; there are: ${Object.keys(ROWS).join(", ")}`);
    for (const bar of await row({ origin: server.origin, url: `${server.origin}/mcp`, quick: values.quick })) {
      bars.push(bar);
      console.log(lineOf(bar));
    }
  }
} finally {
  server.stop();
}

await reportBars({ name: "client", quick: values.quick, json: values.json, bars, notes: [] });

/** Takes a long stream through one call, and sends how far the resident memory grew over idle, in bytes. */
import { textOf } from "../support/contenders.js";
import { expectSame } from "../support/bar.js";
import { ourClient } from "./clients.js";
import { MIB, NOTE_BYTES } from "./payloads.js";

const [url = "", megabytes = ""] = process.argv.slice(2);
const client = ourClient(url);
await client.listTools();
await client.callTool({ name: "echo", arguments: { text: "warm" } });
globalThis.gc?.();
await new Promise((resolve) => setTimeout(resolve, 100));

const idle = process.memoryUsage.rss();
let peak = idle;
let notes = 0;
const { content } = await client.callTool(
  { name: "notes", arguments: { count: Number(megabytes) } },
  {
    onNotification: () => {
      notes += 1;
      peak = Math.max(peak, process.memoryUsage.rss());
    },
  },
);
expectSame("notifications", notes, (Number(megabytes) * MIB) / NOTE_BYTES);
expectSame("result", textOf(content), "notes");
await client.close();
process.send?.(peak - idle, () => process.exit(0));

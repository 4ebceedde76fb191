import { ModernStreamableHTTPClient } from "remote-connector";

// Keeps a list of tools true until Ctrl-C. What changed during a gap nobody tells: a refresh follows each.
const client = new ModernStreamableHTTPClient({
  endpoint: process.argv[2] ?? "http://127.0.0.1:3000/mcp",
  clientInfo: { name: "subscription", version: "1.0.0" },
});
const show = async (why: string): Promise<void> => {
  const { tools } = await client.listAllTools();
  console.log(`${why}:`, tools.map(({ name }) => name).join(", "));
};

const kept = client.keepListening({ toolsListChanged: true }, { onPause: ({ kind }) => console.log("a gap:", kind) });
process.once("SIGINT", () => kept.close());

await kept.acknowledged;
await show("first");
for await (const item of kept) await show(item.kind === "refresh" ? "after the gap" : "changed");
console.log("ended:", (await kept.closed).kind);
await client.close();

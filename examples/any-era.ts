import { connect, createEraMemory } from "remote-connector";

// Servers of any revision, over HTTP or as child processes: `any-era URL`, or `any-era COMMAND ARGUMENT…`.
const [target = "http://127.0.0.1:3000/mcp", ...args] = process.argv.slice(2);
const server = /^https?:/.test(target) ? { endpoint: target } : { command: target, args };
const eraMemory = createEraMemory();
const clientInfo = { name: "any-era", version: "1.0.0" };
const handlers = { elicitation: { form: () => ({ action: "decline" }) as const } };

// The second time the era is remembered: a server of old is not probed again.
for (const time of ["first", "second"]) {
  const client = await connect({ ...server, clientInfo, handlers, eraMemory });
  const { tools } = await client.listAllTools();
  console.log(time, client.era, client.revision, tools.map(({ name }) => name).join(", "));
  await client.close();
}

/** A desktop daemon: `node daemon.js FOLDER GATEWAY ACCOUNT`. Told what to do line by line, it says what happens. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { openConnectorHost, reportStatus } from "remote-connector/connector-host";
import { isRemoteConnectorError } from "remote-connector/errors";

const [folder = ".", gateway = "https://gateway.example", account = ""] = process.argv.slice(2);
const files = await readdir(join(folder, "releases"));
const read = async (...path: string[]): Promise<string> => readFile(join(folder, ...path), "utf8");

const host = await openConnectorHost({
  baseUrl: gateway,
  releases: await Promise.all(files.map(async (file): Promise<unknown> => JSON.parse(await read("releases", file)))),
  // Asked for each request, so that a session that was renewed counts at once; nothing here keeps it.
  accounts: {
    authorize: async ({ accountId }) => ({ Cookie: `session=${(await read(`${accountId}.session`)).trim()}` }),
  },
  hostInfo: { name: "example-daemon", version: "1.0.0" },
  stateDirectory: join(folder, "state"),
});
host.onPublication(({ kind, connectorKey }) => console.log(kind, connectorKey));
host.signIn(account);
const { url, headers } = host.bind({ workspaceId: "home", agentSessionId: "agent" });
console.log("agent", JSON.stringify({ url, headers }));

for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => lines.close());
const lines = createInterface({ input: process.stdin });
for await (const line of lines) {
  const [what, key = "", secret] = line.split(" ");
  try {
    if (what === "authorize") {
      const { nextAction, result } = await host.authorize(key, { secret });
      if (nextAction !== undefined) console.log("person", JSON.stringify(nextAction));
      console.log("authorized", key, (await result).published);
    } else if (what === "disconnect") console.log("disconnected", key, (await host.disconnect(key)).observed);
    else console.log(reportStatus(await host.status(), { now: Date.now() }).lines.join("\n"));
  } catch (error) {
    console.log("failed", isRemoteConnectorError(error) ? error.code : error);
  }
}
await host.close();

/**
 * What an agent spawns that knows MCP servers only as commands: `node stdio-shim.js STATE_DIRECTORY BINDING [DAEMON…]`. Joins the host
 * that owns the directory; when there is none, and a daemon is given, that is started.
 */
import { spawn } from "node:child_process";
import { serveStdio } from "remote-connector/connector-host";

const [stateDirectory = "state", binding = "desk", ...daemon] = process.argv.slice(2);

// An agent that can't wait for what it asked says so in this way.
const ending = new AbortController();
process.once("SIGTERM", () => ending.abort());

await serveStdio({
  stateDirectory,
  binding,
  signal: ending.signal,
  start:
    daemon.length === 0
      ? undefined
      : () =>
          spawn(process.execPath, daemon, { detached: true, stdio: "ignore" })
            .on("error", () => undefined)
            .unref(),
});

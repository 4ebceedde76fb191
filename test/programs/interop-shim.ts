/** What an agent spawns: `interop-shim STATE_DIRECTORY BINDING` serves the host that owns the directory over lines. */
import { serveStdio } from "remote-connector/connector-host";

const [stateDirectory = "", binding = ""] = process.argv.slice(2);
await serveStdio({ stateDirectory, binding });

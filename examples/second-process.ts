import { connectToHost, openConnectorHost, reportStatus } from "remote-connector/connector-host";
import { isRemoteConnectorError } from "remote-connector/errors";

const [stateDirectory = "state", baseUrl = "https://gateway.example"] = process.argv.slice(2);

/** Owns the state directory, or talks to the process that does. */
async function start(): Promise<void> {
  try {
    const host = await openConnectorHost({
      stateDirectory,
      baseUrl,
      hintsUrl: false,
      releases: [],
      accounts: { authorize: () => undefined },
      hostInfo: { name: "second-process", version: "1.0.0" },
    });
    console.log("owner", process.pid);
    process.stdin.resume().once("end", () => void host.close());
  } catch (error) {
    if (!isRemoteConnectorError(error, "store_in_use")) throw error;
    const host = await connectToHost({ stateDirectory });
    const { processId, connectors } = await host.status();
    console.log("guest of", processId, reportStatus(connectors, { now: Date.now() }).lines);
    await host.close();
  }
}

// Between the two questions the owner can end, or not have begun to listen: both are asked again.
for (let attempt = 1; ; attempt += 1) {
  try {
    await start();
    break;
  } catch (error) {
    if (attempt === 10 || !isRemoteConnectorError(error, "connect_failed")) throw error;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/**
 * Something between the client and the loopback server: `middle last_list|journaled|reread|official|bare ORIGIN STATE`. Sends how it is reached, and
 * then what it costs.
 */
import { openBareHop } from "./bare-hop.js";
import { openOfficialHop } from "./official-hop.js";
import { openHost } from "./open-host.js";
import { tellCpu } from "./tell-cpu.js";

const [kind = "", origin = "", stateDirectory = ""] = process.argv.slice(2);
tellCpu();
process.send?.(await open());

async function open(): Promise<unknown> {
  switch (kind) {
    case "last_list":
    case "reread": {
      const { host } = await openHost({ baseUrl: origin, keys: ["echo"], contracts: kind });
      const { url, headers } = host.bind({ workspaceId: "bench", agentSessionId: "bench" });
      return { url, headers, tool: "echo_echo" };
    }
    case "journaled": {
      const { host } = await openHost({ baseUrl: origin, keys: ["echo"], contracts: "last_list", stateDirectory });
      const { url, headers } = host.bind({ workspaceId: "bench", agentSessionId: "bench" });
      return { url, headers, tool: "echo_echo" };
    }
    case "official":
      return { url: await openOfficialHop(`${origin}/mcp`), headers: {}, tool: "echo" };
    case "bare":
      return { url: await openBareHop(`${origin}/mcp`), headers: {}, tool: "echo" };
    default:
      throw new Error("middle last_list|journaled|reread|official|bare ORIGIN STATE");
  }
}

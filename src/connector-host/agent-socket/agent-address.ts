import { type SocketAddress, socketAddress } from "../state-socket/index.js";

const PLACE = { name: "agent", pipePrefix: "remote-connector-agent" };

/** Where programs find the agents' server of the host that owns a state directory, on a platform as `process.platform` names it. Pure. */
export function agentAddress(stateDirectory: string, platform: string): SocketAddress {
  return socketAddress(stateDirectory, PLACE, platform);
}

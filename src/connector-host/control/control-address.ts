import { type SocketAddress, socketAddress } from "../state-socket/index.js";

const PLACE = { name: "control", pipePrefix: "remote-connector" };

/** Where the host that owns a state directory is talked to, on a platform as `process.platform` names it. Pure. */
export function controlAddress(stateDirectory: string, platform: string): SocketAddress {
  return socketAddress(stateDirectory, PLACE, platform);
}

import type { RemoteMcpClient, RemoteMcpClientFactory } from "remote-connector/connector-host";
import type { KillPoint } from "./kill-points.js";
import { AUTHORIZED_KEYS } from "./world.js";

/** A factory that tells of every client that it makes, and of every answer to it. `loses`: one connector is never reached. */
export function watchFactory(
  factory: RemoteMcpClientFactory,
  at: (point: KillPoint) => void,
  loses: boolean,
): RemoteMcpClientFactory {
  return {
    create(request) {
      at("activate");
      if (loses && request.connectorKey === AUTHORIZED_KEYS[0]) throw new Error("It is lost.");
      return watchClient(factory.create(request), at);
    },
  };
}

function watchClient(client: RemoteMcpClient, at: (point: KillPoint) => void): RemoteMcpClient {
  return new Proxy(client, {
    get(target, name) {
      const run: unknown = Reflect.get(target, name);
      if (typeof run !== "function") return run;
      return async (...args: readonly unknown[]) => {
        const result: unknown = await Reflect.apply(run, target, args);
        at("activated");
        return result;
      };
    },
  });
}

import { describe, expect, it } from "vitest";
import { readAmbientUses } from "./ambient-uses.js";
import { readSourceTree } from "./source-tree.js";

/** Who may reach for the machine's time and chance, and for what. Everyone else is given a port. */
const PORTS: Readonly<Record<string, string>> = {
  "transport/clock.ts": "the clock of the clients, when none is given",
  "auth-projection/clock.ts": "the clock of the projection, when none is given",
  "testing/test-clock.ts": "the clock of scripted servers, when none is given",
  "testing/authorization-server/options.ts": "a default",
  "testing/protected-server/options.ts": "defaults",
  "auth-projection/flows/flows-options.ts": "defaults",
  "auth-projection/hint-listener.ts": "a default",
  "auth-projection/snapshot-sync-options.ts": "a default",
  "connect/connect-options.ts": "a default",
  "connect/supervision/supervision-options.ts": "a default",
  "connector-host/host/host-options.ts": "defaults",
  "gateway/resolve-options.ts": "a default",
  "legacy-client/http/options.ts": "defaults",
  "modern-client/client-options.ts": "defaults",
  "oauth/resolve-oauth-options.ts": "defaults",
  "oauth/vault/vault-options.ts": "defaults",
  "store/shared-options.ts": "the clock of what processes share, when none is given",
  "testing/play-plan.ts": "no time: the play of a script is called a performance there",
  "transport/cookie-jar.ts": "the date that the clock began at",
  "serving/http-listener.ts": "how long closing may take, below any request",
  "transport/http2-connection.ts": "idle connections, below any request, as undici's are",
};

const TIME_AND_CHANCE: ReadonlySet<string> = new Set([
  "Date.now",
  "Math.random",
  "crypto",
  "new Date()",
  "performance",
  "setInterval",
  "setTimeout",
]);

describe("F-9 time and chance", () => {
  it("are ports: the machine's own are named where a port has its default, and nowhere else", () => {
    const found = [...readSourceTree()]
      .filter(([path]) => path.endsWith(".ts") && !path.endsWith(".d.ts"))
      .filter(([path, text]) => readAmbientUses(path, text).some((use) => TIME_AND_CHANCE.has(use)))
      .map(([path]) => path);
    expect(found.toSorted()).toEqual(Object.keys(PORTS).toSorted());
  });
});

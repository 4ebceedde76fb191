import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  HintListener,
  LoginGuard,
  type ProjectionTx,
  Readiness,
  SnapshotClient,
  SnapshotSync,
} from "../../../src/auth-projection/index.js";
import { entry } from "../../unit/auth-projection/bodies.js";
import { AccountStore } from "../../unit/auth-projection/account-store.js";
import { ControlPlane } from "./control-plane.js";

const WITHIN = { timeout: 5_000, interval: 10 };

let plane: ControlPlane;

beforeEach(async () => {
  plane = await ControlPlane.listen();
});

afterEach(() => plane.close());

describe("P-1 to P-9: an account is followed over real sockets", () => {
  it("P-9: a revocation reaches the rows by a hint, and a sign-out ends everything", async () => {
    plane.json({ revision: 1, connectors: [entry("github"), entry("slack")] });
    const logins = new LoginGuard({ authorize: ({ accountId }) => ({ Cookie: `account=${accountId}` }) });
    const login = logins.signIn("acc");
    const store = new AccountStore();
    const planned: (readonly string[])[] = [];
    const source = new SnapshotClient({ controlBase: plane.base, login, logins });
    const sync = new SnapshotSync<ProjectionTx>({
      login,
      logins,
      scopeEpoch: "s1",
      readiness: new Readiness(),
      source,
      store,
      onChanged: (_tx, keys) => void planned.push(keys),
    });
    const hints = new HintListener({ url: plane.hintUrl, login, logins, onWake: () => sync.wake() });

    expect(await sync.ready).toBe(true);
    expect(planned).toEqual([["github", "slack"]]);
    await expect.poll(() => plane.sockets.length, WITHIN).toBe(1);

    plane.json({ revision: 2, connectors: [entry("github")] });
    plane.hint({ type: "connector.authorization.changed", payload: { revision: 2 } });
    await expect.poll(() => planned.length, WITHIN).toBe(2);
    expect(planned[1]).toEqual(["slack"]);
    expect(await store.rows("acc")).toMatchObject([{ state: "connected" }, { state: "disconnected" }]);

    logins.signOut();
    expect(sync.state()).toMatchObject({ status: "closed", ready: false });
    await Promise.all([sync.close(), hints.close(), source.close()]);
    await expect.poll(() => plane.connections(), WITHIN).toBe(0);
    expect(plane.requests.every((request) => request.headers.cookie === "account=acc")).toBe(true);
  });
});

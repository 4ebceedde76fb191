import { createGateway } from "remote-connector/gateway";
import { Account } from "./auth-projection/account.js";

// A control plane: that of the reference gateway. Accounts authorize `notes` by a key of theirs.
const gateway = await createGateway({
  accounts: [{ accountId: "ada", sessions: ["s-ada"] }],
  connectors: [
    {
      connectorId: "notes",
      connectorVersion: "1.0.0",
      authorization: "account",
      authorizing: { kind: "secret", verify: (key) => key.startsWith("key-") },
      upstream: { kind: "http", url: "http://127.0.0.1:9/mcp" },
    },
  ],
});
const account = new Account({
  controlBase: gateway.origin,
  accountId: "ada",
  headers: () => ({ Cookie: "session=s-ada" }),
  onUsable: (keys) => console.log(`usable: ${keys.length === 0 ? "nothing" : keys.join(", ")}`),
});

console.log(`ready: ${String(await account.sync.ready)}`);

const started = await account.flows.start("notes", { connectorVersion: "1.0.0" });
console.log(`to do: ${started.nextAction?.type ?? "nothing"}`);
// The bytes are overwritten as soon as they are taken.
await account.flows.submitSecret("notes", new TextEncoder().encode("key-1"));
const { authorized, published } = await started.result;
console.log(`authorized: ${String(authorized)}, published: ${String(published)}`);

const { observed } = await account.flows.disconnect("notes");
console.log(`disconnected: ${String(observed)}`);

const [flow] = await account.flows.list();
console.log(`flow: ${flow?.state ?? "none"}`);
await account.close();
await gateway.close();

import { describe, expect, it } from "vitest";
import { lastingCredential } from "../../../src/gateway/authorizing/credential.js";
import { CredentialVault } from "../../../src/gateway/authorizing/credential-vault.js";

const secret = (text: string): Buffer => Buffer.from(text);
const isWiped = (buffer: Buffer): boolean => buffer.every((byte) => byte === 0);

describe("CredentialVault", () => {
  it("C-5: keeps connections, connectors and accounts apart", () => {
    const vault = new CredentialVault();
    vault.set("ada", "files", "one", lastingCredential(secret("1")));
    expect(vault.get("ada", "files", "one")?.secret.toString()).toBe("1");
    expect(vault.get("ada", "files", "two")).toBeUndefined();
    expect(vault.get("ada", "other", "one")).toBeUndefined();
    expect(vault.get("bob", "files", "one")).toBeUndefined();
  });

  it("C-5: wipes what is replaced, and everything in the end", () => {
    const vault = new CredentialVault();
    const [first, second] = [secret("first"), secret("second")];
    const refreshToken = secret("refresh");
    vault.set("ada", "files", "one", { secret: first, refreshToken, renewAtMs: 1 });
    vault.set("ada", "files", "one", lastingCredential(second));
    expect([isWiped(first), isWiped(refreshToken), isWiped(second)]).toEqual([true, true, false]);
    vault.clear();
    expect(isWiped(second)).toBe(true);
    expect(vault.get("ada", "files", "one")).toBeUndefined();
  });

  it("C-5: gives out what belongs to connections that are over, once", () => {
    const vault = new CredentialVault();
    for (const id of ["one", "two", "three"]) vault.set("ada", "files", id, lastingCredential(secret(id)));
    const taken = vault.takeOthers("ada", "files", ["two"]).map((credential) => credential.secret.toString());
    expect(taken).toEqual(["one", "three"]);
    expect(vault.takeOthers("ada", "files", ["two"])).toEqual([]);
    expect(vault.get("ada", "files", "two")).toBeDefined();
    expect(vault.takeOthers("ada", "files", [])).toHaveLength(1);
    expect(vault.takeOthers("ada", "files", [])).toEqual([]);
  });
});

import { describe, expect, it } from "vitest";
import { deviceEntry } from "../../../../src/connector-host/catalog/index.js";
import { programConnector, registeredConnector } from "../../../../src/connector-host/device/index.js";
import { describeTraits } from "../../../../src/connector-host/host/describe-traits.js";
import { declareRegistration, declareStdioConnector } from "../../../../src/connector-host/registration/index.js";
import { releaseEntryOf } from "../../../support/release-entries.js";

describe("describeTraits", () => {
  it("H-4, H-24, H-26: a release is listed live, by the host's option, for what it is opened for", () => {
    const entry = { ...releaseEntryOf("a"), capabilities: ["tools", "prompts"] as const };
    for (const contracts of ["reread", "last_list"] as const) {
      const { capabilities } = entry;
      expect(describeTraits(entry, contracts)).toEqual({ capabilities, listing: "live", contracts });
    }
  });

  it("H-4, H-30: a connector of the device is listed from its last list, of its settings now", () => {
    const settings = { endpoint: "https://docs.test:8443/mcp?x=1" };
    const capabilities = ["resources", "tools"] as const;
    const declared = { slug: "docs", displayName: "Docs", settings, capabilities };
    const server = registeredConnector(declareRegistration(declared, "0b3f1c9e-5f4e-4d1c-9a55-2f6f0f6a1d11"));
    const kept = { isActive: true, listing: "catalog", contracts: "last_list", capabilities: ["tools", "resources"] };
    expect(describeTraits(deviceEntry(server, ""), "reread")).toEqual({
      ...kept,
      origin: "https://docs.test:8443",
      settingsDigest: server.digest,
    });
    const program = programConnector(declareStdioConnector({ key: "files", displayName: "Files", command: "files" }));
    const { origin, settingsDigest } = describeTraits(deviceEntry(program, ""), "reread");
    expect([origin, settingsDigest]).toEqual(["stdio:files", program.digest]);
  });
});

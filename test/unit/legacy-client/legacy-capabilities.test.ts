import { describe, expect, it } from "vitest";
import { legacyCapabilities } from "../../../src/legacy-client/legacy-capabilities.js";
import { capabilitiesOf } from "../../../src/protocol/input/index.js";
import { LEGACY_REVISIONS } from "../../../src/protocol/index.js";

const accept = (): { readonly action: "accept" } => ({ action: "accept" });

describe("L-6 L-23 what is declared", () => {
  const all = capabilitiesOf({
    elicitation: { form: accept, url: accept },
    sampling: { createMessage: () => ({}), tools: true },
    roots: () => [],
  });

  it.each(LEGACY_REVISIONS)("to a server of %s", (revision) => {
    const elicitation = {
      "2025-11-25": { form: {}, url: {} },
      "2025-06-18": {},
      "2025-03-26": undefined,
      "2024-11-05": undefined,
    }[revision];
    const sampling = revision === "2025-11-25" ? { tools: {} } : {};
    expect(legacyCapabilities(revision, all)).toEqual({
      ...(elicitation === undefined ? {} : { elicitation }),
      sampling,
      // That they change is never told.
      roots: {},
    });
  });

  it("no elicitation where visits are all that is taken, and the revision has none", () => {
    const visits = capabilitiesOf({ elicitation: { url: accept } });
    expect(legacyCapabilities("2025-06-18", visits)).toEqual({});
    expect(legacyCapabilities("2025-11-25", visits)).toEqual({ elicitation: { url: {} } });
  });

  it("forms where an elicitation names no mode, since it means them", () => {
    expect(legacyCapabilities("2025-11-25", { elicitation: {} })).toEqual({ elicitation: {} });
    expect(legacyCapabilities("2025-06-18", { elicitation: {} })).toEqual({ elicitation: {} });
  });
});

import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { PAGE_HEADERS, PAGE_STYLE } from "../../../../src/connector-host/admin-web/page-headers.js";
import { noticePage, openedPage, statusPage } from "../../../../src/connector-host/admin-web/status-page.js";
import type { ManagementView } from "../../../../src/connector-host/admin/index.js";

const EVIL = `<script>alert("1")</script>&'`;

const VIEW: ManagementView = {
  host: { name: EVIL, version: EVIL },
  url: EVIL,
  accountId: EVIL,
  connectors: [
    {
      connectorKey: "a",
      kind: "release",
      displayName: EVIL,
      place: EVIL,
      enabled: true,
      paused: false,
      state: EVIL,
      reason: EVIL,
      since: 0,
      capabilities: ["tools"],
      listing: "live",
      newTools: "allow",
      tools: [
        { nativeName: "x", permission: "allow", isDecided: false },
        { nativeName: "y", permission: "off", isDecided: true },
      ],
    },
  ],
  durableBindings: [],
  agents: { bindings: 1, durableBindings: 1, sessions: 0, listeners: 0, requests: 0 },
  approvals: [
    {
      id: "1",
      connectorKey: EVIL,
      connectorName: EVIL,
      toolName: EVIL,
      nativeName: EVIL,
      argumentsText: EVIL,
      omittedBytes: 0,
      workspaceId: EVIL,
      agentSessionId: EVIL,
      requestedAt: 0,
      expiresAt: 0,
    },
  ],
  calls: [
    {
      id: "1",
      requestId: "1",
      attempt: 1,
      kind: EVIL,
      connectorKey: EVIL,
      nativeName: EVIL,
      startedAt: 0,
      state: EVIL,
      argumentBytes: 0,
    },
  ],
};

describe("H-33: the status page", () => {
  it("H-33: what others wrote is text in it", () => {
    for (const page of [statusPage(VIEW), noticePage(EVIL, EVIL)]) {
      expect(page).not.toContain("<script");
      expect(page).toContain("&#60;script&#62;alert(&#34;1&#34;)&#60;/script&#62;&#38;&#39;");
    }
  });

  it("H-33: what can't be seen in a cell, and what turns text round, is written out", () => {
    const shown = statusPage({
      ...VIEW,
      connectors: VIEW.connectors.map((one) => ({ ...one, displayName: "A\u202eB\u200b", place: "p\u2066" })),
    });
    expect(shown).toContain("A\\u{202e}B\\u{200b} (a)");
    expect(shown).toContain("p\\u{2066}");
    expect(shown).not.toMatch(/[\u202e\u200b\u2066]/);
  });

  it("H-33, H-36: is a table with names for its rows and columns, states, reasons and times, and needs no script", () => {
    const page = statusPage({
      ...VIEW,
      connectors: VIEW.connectors.map((one) => ({ ...one, displayName: "A", state: "ready", reason: undefined })),
    });
    expect(page).toContain("<caption>Connectors</caption>");
    expect(page).toContain('<th scope="row">A (a)</th><td>ready</td><td>1970-01-01T00:00:00.000Z</td>');
    expect(page).toContain("1 allow, 0 ask, 1 off");
    expect(page).toContain('<html lang="en">');
    expect(page).not.toMatch(/<script|\son\w+=|\sstyle=/);
  });

  it("H-33: a link's page goes on by itself, with the key behind the #", () => {
    expect(openedPage("abc")).toContain('content="0;url=/admin#key=abc"');
  });

  it("H-33: nothing is loaded, run, framed or kept, and the style is the one that is allowed", () => {
    const policy = PAGE_HEADERS["Content-Security-Policy"] ?? "";
    const style = /<style>([^<]*)<\/style>/.exec(statusPage(VIEW))?.[1] ?? "";
    expect(style).toBe(PAGE_STYLE);
    expect(policy).toContain(`'sha256-${createHash("sha256").update(style).digest("base64")}'`);
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain("unsafe");
    expect(PAGE_HEADERS).toMatchObject({ "Cache-Control": "no-store", "Referrer-Policy": "no-referrer" });
  });
});

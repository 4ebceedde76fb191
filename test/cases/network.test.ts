import { describe, expect, it, onTestFinished, vi } from "vitest";
import { likeModernServer } from "../../src/testing/index.js";
import { AUTHORITY, SERVER_CERTIFICATE, SERVER_KEY } from "../support/certificates.js";
import { ConnectProxy } from "../support/connect-proxy.js";
import { connectTo, serve } from "./parties.js";

const healthy = likeModernServer({ tools: [{ name: "t" }] });
const tls = { cert: SERVER_CERTIFICATE, key: SERVER_KEY };

describe("the way to the server", () => {
  it("MB-105: the proxy of the environment is ignored", async () => {
    const server = await serve(healthy, { tls });
    const proxy = await ConnectProxy.start();
    onTestFinished(() => proxy.close());
    for (const name of ["HTTPS_PROXY", "https_proxy"]) vi.stubEnv(name, proxy.url);
    for (const name of ["NO_PROXY", "no_proxy"]) vi.stubEnv(name, "");
    onTestFinished(() => void vi.unstubAllEnvs());
    // A name that nobody can look up: only the proxy knows the way.
    const endpoint = `https://mcp.test:${String(server.port)}/mcp`;
    const direct = connectTo(endpoint, { ca: AUTHORITY }).client;
    await expect(direct.discover()).rejects.toMatchObject({ code: "connect_failed", delivery: "not_sent" });
    expect(proxy.tunnels).toEqual([]);
    const client = connectTo(endpoint, { ca: AUTHORITY, proxy: "environment" }).client;
    await expect(client.discover()).resolves.toMatchObject({ supportedVersions: ["2026-07-28"] });
    await expect(client.callTool({ name: "t" })).resolves.toMatchObject({ content: [{}] });
    expect(new Set(proxy.tunnels.map(({ to }) => to))).toEqual(new Set([`mcp.test:${String(server.port)}`]));
  });

  it("MB-107: a server of a private authority can be reached only by turning verification off for all", async () => {
    const server = await serve(healthy, { tls });
    const reason = "UNABLE_TO_VERIFY_LEAF_SIGNATURE";
    const refusal = { code: "connect_failed", delivery: "not_sent", details: { reason } };
    await expect(connectTo(server.url).client.discover()).rejects.toMatchObject(refusal);
    const trusting = connectTo(server.url, { ca: AUTHORITY }).client;
    await expect(trusting.discover()).resolves.toMatchObject({ supportedVersions: ["2026-07-28"] });
    // Trust is that client's alone, whoever came first.
    await expect(connectTo(server.url).client.discover()).rejects.toMatchObject(refusal);
    expect(process.env["NODE_TLS_REJECT_UNAUTHORIZED"]).toBeUndefined();
  });
});

import { describe, expect, it } from "vitest";
import {
  createFetchExchange,
  createUndiciExchange,
  resolveTransportOptions,
  type TransportOptions,
} from "../../../src/transport/index.js";
import { AUTHORITY, CLIENT_CERTIFICATE, CLIENT_KEY, SERVER_KEY } from "../../support/certificates.js";

const origin = "https://h.test";
const refused = (code: string, option: string, details: object = {}) =>
  expect.objectContaining({ code, delivery: "not_sent", details: expect.objectContaining({ option, ...details }) });

describe("F-16: options of connections", () => {
  it("by default nothing is special", () => {
    expect(resolveTransportOptions({}).connection).toEqual({
      allowedAddresses: "any",
      serverContext: undefined,
      proxyContext: undefined,
      http2: false,
      lookup: undefined,
      proxy: false,
      trustsProxy: false,
    });
  });

  it.each([
    ["ca", { ca: "-----BEGIN CERTIFICATE-----\nsecret\n-----END CERTIFICATE-----\n" }],
    ["ca", { ca: "secret" }],
    ["ca", { ca: [AUTHORITY, ""] }],
    ["clientCertificate", { clientCertificate: { cert: CLIENT_CERTIFICATE, key: "secret" } }],
    ["clientCertificate", { clientCertificate: { cert: CLIENT_CERTIFICATE, key: SERVER_KEY } }],
    ["clientCertificate", { clientCertificate: { cert: CLIENT_CERTIFICATE } }],
    ["keys", { clientCertificate: { cert: CLIENT_CERTIFICATE, keys: CLIENT_KEY } }],
    ["proxy", { proxy: { url: "socks5://me:secret@h" } }],
    ["proxy", { proxy: { url: "secret" } }],
    ["allowedAddresses", { allowedAddresses: "secret" }],
  ])("F-6: %s that can't be used is refused where it is given, and not shown", (option, options) => {
    let error: unknown;
    try {
      const given: TransportOptions = {};
      resolveTransportOptions(Object.assign(given, options));
    } catch (caught) {
      error = caught;
    }
    expect(error).toMatchObject({ code: "invalid_options", details: { option } });
    expect(JSON.stringify(error)).not.toContain("secret");
  });
});

describe("F-20: what an exchange can't do", () => {
  const cases: readonly (readonly [string, string, TransportOptions])[] = [
    ["ca", "tls", { ca: AUTHORITY }],
    ["clientCertificate", "tls", { clientCertificate: { cert: CLIENT_CERTIFICATE, key: CLIENT_KEY } }],
    ["lookup", "pinsAddress", { lookup: (_, __, callback) => callback(null, "") }],
    ["allowedAddresses", "pinsAddress", { allowedAddresses: "public" }],
    ["proxy", "proxy", { proxy: "environment" }],
    ["connectTimeoutMs", "connectDeadline", { connectTimeoutMs: 1_000 }],
  ];

  it.each(cases)("%s needs %s, and is never ignored", (option, capability, options) => {
    const exchange = createFetchExchange({ origin });
    expect(() => resolveTransportOptions({ ...options, exchange })).toThrow(
      refused("unsupported_by_exchange", option, { capability }),
    );
  });

  it.each(cases.slice(0, -1))("%s comes too late for one that could", async (option, _, options) => {
    const exchange = createUndiciExchange({ origin, maxConnections: 1 });
    expect(() => resolveTransportOptions({ ...options, exchange })).toThrow(refused("invalid_options", option));
    await exchange.destroy();
  });

  it("what asks for nothing is fine", () => {
    const exchange = createFetchExchange({ origin });
    const options = { proxy: false, allowedAddresses: "any", connectTimeoutMs: 9, totalTimeoutMs: 9 } as const;
    expect(resolveTransportOptions({ ...options, exchange }).exchange).toBe(exchange);
  });
});

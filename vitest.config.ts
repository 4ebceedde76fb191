import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

/** Thousands of stories each, or megabytes: too slow for tests that are run all the time. */
const MODELS = "test/unit/**/*.{model,property,sizes}.test.ts";

/**
 * Real sockets, and nothing of the process that another file could trip over: such files share what is imported, which takes longer than many
 * of them.
 */
const SHARED_FOLDERS = "gateway|legacy-client|modern-client|oauth|serving|testing";
const SOCKETS = [
  "test/cases/**/*.test.ts",
  "test/contract/**/*.test.ts",
  `test/integration/@(${SHARED_FOLDERS})/**/*.test.ts`,
];
/** Those of them that count what the process holds, or change it: each has a process of its own. */
const ALONE = [
  "test/cases/{http,network,stdio}.test.ts",
  "test/contract/transport/{compressed-answers,connections,cookies,exchange-events,http2,http2-frames,refused-requests,verdicts}.test.ts",
  "test/integration/legacy-client/{ending,http-conversation,http-sse,telemetry}.test.ts",
  "test/integration/modern-client/{edges,secrets,telemetry}.test.ts",
  "test/integration/oauth/{requester,system-opener,vault/vault-key}.test.ts",
  "test/integration/testing/scripted-server.test.ts",
];

export default defineConfig({
  test: {
    // Most tests wait for sockets and processes: one worker, which is the rule on two cores, would leave half of both idle.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    reporters: ["default", "./scripts/rules/test-report-reporter.mjs", "./test/support/closing-line-reporter.ts"],
    projects: [
      {
        test: {
          name: "unit",
          include: ["test/unit/**/*.test.ts"],
          exclude: [MODELS],
          // Pure modules keep nothing that another test could trip over; a process for each file would cost more than its tests.
          pool: "threads",
          isolate: false,
        },
      },
      { test: { name: "architecture", include: ["test/architecture/**/*.test.ts"], pool: "threads", isolate: false } },
      {
        test: {
          name: "sockets",
          include: SOCKETS,
          exclude: ALONE,
          isolate: false,
          testTimeout: 30_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: "integration",
          include: [
            MODELS,
            ...ALONE,
            `test/integration/!(${SHARED_FOLDERS})/**/*.test.ts`,
            "test/package/**/*.test.ts",
          ],
          testTimeout: 30_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
});

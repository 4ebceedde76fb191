import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

/** Thousands of stories each, or megabytes: too slow for tests that are run all the time. */
const MODELS = "test/unit/**/*.{model,property,sizes}.test.ts";

/**
 * Real sockets, nothing of the process that another file could trip over: its files share what is imported, which takes longer than many of
 * them. One that moves the HTTP library's own timers has a process of its own.
 */
const SOCKETS = [
  "test/cases/**/*.test.ts",
  "test/contract/**/*.test.ts",
  "test/integration/{connect,gateway,legacy-client,modern-client,oauth,serving,testing}/**/*.test.ts",
];
const ALONE = "test/cases/http.test.ts";

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
          exclude: [ALONE],
          isolate: false,
          testTimeout: 30_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: "integration",
          include: [MODELS, ALONE, "test/integration/**/*.test.ts", "test/package/**/*.test.ts"],
          exclude: SOCKETS.filter((pattern) => !pattern.startsWith("test/cases/")),
          testTimeout: 30_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
});

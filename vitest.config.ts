import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    reporters: ["default", "./scripts/rules/test-report-reporter.mjs", "./test/support/closing-line-reporter.ts"],
    projects: [
      {
        test: {
          name: "unit",
          include: ["test/unit/**/*.test.ts", "test/architecture/**/*.test.ts"],
          // Pure modules keep nothing that another test could trip over; a process for each file would cost more than its tests.
          pool: "threads",
          isolate: false,
        },
      },
      {
        test: {
          name: "integration",
          include: [
            "test/cases/**/*.test.ts",
            "test/contract/**/*.test.ts",
            "test/integration/**/*.test.ts",
            "test/package/**/*.test.ts",
          ],
          testTimeout: 30_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
});

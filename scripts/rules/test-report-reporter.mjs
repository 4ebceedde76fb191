import { readdirSync } from "node:fs";
import { sourcesDigest, writeTestReport } from "./test-report.mjs";

/** Keeps the names and states of all tests for `npm run rules`. A run of some tests only leaves the last report as it is. */
export default class TestReportReporter {
  #sources = "";
  #filtered = false;

  onInit(vitest) {
    this.#sources = sourcesDigest();
    this.#filtered = vitest.config.testNamePattern !== undefined;
  }

  onTestRunEnd(modules) {
    const files = readdirSync("test", { recursive: true, encoding: "utf8" }).filter((path) =>
      path.endsWith(".test.ts"),
    );
    if (this.#filtered || new Set(modules.map(({ moduleId }) => moduleId)).size < files.length) return;
    const tests = modules.flatMap((module) =>
      [...module.children.allTests()].map((test) => ({ name: test.fullName, state: test.result().state })),
    );
    writeTestReport({ sources: this.#sources, tests });
  }
}

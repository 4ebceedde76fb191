import type { Reporter, SerializedError, TestModule } from "vitest/node";

/**
 * Ends a run with the one line that scripts read: `412 passed, 0 failed`, and what was skipped behind it.
 *
 * A module that could not be loaded, and an error outside every test, each count as a failure.
 */
export default class ClosingLineReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly SerializedError[]): void {
    let passed = 0;
    let failed = unhandledErrors.length;
    let skipped = 0;
    for (const module of modules) {
      let tests = 0;
      for (const test of module.children.allTests()) {
        tests += 1;
        const { state } = test.result();
        if (state === "passed") passed += 1;
        else if (state === "failed") failed += 1;
        else skipped += 1;
      }
      if (!module.ok() && (tests === 0 || module.errors().length > 0)) failed += 1;
    }
    const tail = skipped === 0 ? "" : `, ${String(skipped)} skipped`;
    process.stdout.write(`\n${String(passed)} passed, ${String(failed)} failed${tail}\n`);
  }
}

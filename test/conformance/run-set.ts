import { runScenario, type ScenarioVerdict } from "./run-scenario.js";

/** More would measure the machine: each scenario is a harness and a client. */
const AT_ONCE = 2;

/** Runs scenarios two at a time. Resolves with the verdicts in the order in which they came, which `onVerdict` sees as well. */
export async function runSet(
  revision: string,
  scenarios: readonly string[],
  client: readonly string[],
  onVerdict: (verdict: ScenarioVerdict) => void = () => undefined,
): Promise<readonly ScenarioVerdict[]> {
  const verdicts: ScenarioVerdict[] = [];
  const waiting = scenarios.values();
  const work = async (): Promise<void> => {
    for (const scenario of waiting) {
      const verdict = await runScenario(revision, scenario, client);
      verdicts.push(verdict);
      onVerdict(verdict);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return verdicts;
}

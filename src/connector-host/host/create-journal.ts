import { type JournalIncident, RequestJournal } from "../journal/index.js";
import type { ConnectorHostConfig } from "./host-options.js";
import type { HostLogger } from "./host-logger.js";

type JournalParts = Pick<ConnectorHostConfig, "clock" | "journal" | "logger" | "mintEpoch" | "wallClock">;

/** The journal of a host, if it has one that can be used. Throws `store_*` when the host may not go on without it. */
export function createJournal(config: JournalParts): RequestJournal | undefined {
  const { clock, journal, logger, mintEpoch, wallClock } = config;
  if (journal === undefined) return undefined;
  const report = (incident: JournalIncident): void => reportIncident(incident, logger);
  try {
    return new RequestJournal({ ...journal, epoch: mintEpoch(), clock, wallClock, report });
  } catch (error) {
    if (!journal.config.mayGoOn) throw error;
    report({ kind: "unavailable", error });
    void journal.rows.close();
    return undefined;
  }
}

function reportIncident(incident: JournalIncident, logger: HostLogger): void {
  if (incident.kind === "available") logger.info("Requests can be written down again.", {});
  else if (incident.kind === "unavailable") logger.error("Requests can't be written down.", { error: incident.error });
  else logger.error("What became of requests could not be written down.", { count: incident.count });
}

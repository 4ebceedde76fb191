import { readFile, truncate } from "node:fs/promises";
import { checkFile, type FileFacts } from "./check-file.js";
import type { Finding } from "./finding.js";
import { type JournalLine, parseJournal } from "./journal.js";
import { Ledger } from "./ledger.js";
import { checkDirectory, readRows } from "./state-directory.js";
import type { World } from "./world.js";

/** How a process was found. */
export interface Autopsy {
  /** Where it was told to end itself, if it came there. */
  readonly order: Extract<JournalLine, { t: "kill" }> | undefined;
  readonly isInsideWrite: boolean;
  readonly findings: readonly Finding[];
}

export interface ExaminerOptions {
  readonly directory: string;
  /** The path of the journal, which is there. */
  readonly journal: string;
  readonly world: World;
  /** The flows that the control plane was asked for so far. */
  readonly flows: FileFacts["flows"];
}

/** Looks at everything that the processes of one directory leave behind, one after the other. */
export class Examiner {
  readonly ledger: Ledger;
  readonly #options: ExaminerOptions;
  /** How much of the journal was read. */
  #read = 0;
  #fileBytes = 0;

  constructor(options: ExaminerOptions) {
    this.#options = options;
    this.ledger = new Ledger((account, epoch, revision) => options.world.said(account, epoch, revision));
  }

  /** How large the file was when it was looked at last. */
  get fileBytes(): number {
    return this.#fileBytes;
  }

  /** `isClosed`: the process ended in order, and is the last one. */
  async examine(isClosed: boolean): Promise<Autopsy> {
    const { directory, journal } = this.#options;
    const { ledger } = this;
    const text = (await readFile(journal)).subarray(this.#read).toString();
    const { lines, bytes } = parseJournal(text);
    this.#read += bytes;
    // The next process begins with a whole line.
    await truncate(journal, this.#read);
    for (const line of lines) ledger.read(line);
    const order = lines.findLast((line) => line.t === "kill");
    const isInsideWrite = ledger.rows.isOpen;
    const ofFile = await this.#examineFile(isClosed);
    const left = await checkDirectory(directory, isClosed);
    return { order, isInsideWrite, findings: [...ofFile, ...ledger.takeFindings(), ...left] };
  }

  async #examineFile(isClosed: boolean): Promise<readonly Finding[]> {
    const { directory, flows } = this.#options;
    const { ledger } = this;
    try {
      const { rows: file, bytes } = await readRows(directory);
      this.#fileBytes = bytes;
      const { rows, rowsIfCommitted } = ledger.rows;
      const wasPublished: FileFacts["wasPublished"] = (...route) => ledger.routes.wasPublished(...route);
      const findings = checkFile(file, { rows, rowsIfCommitted, wasPublished, flows });
      ledger.resume(file);
      if (isClosed) ledger.events.judgeEnd(file);
      return findings;
    } catch (error) {
      return [{ check: "rows", says: `the file can't be read: ${String(error)}` }];
    }
  }
}

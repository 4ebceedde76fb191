import { randomInt } from "node:crypto";
import { type Clock, systemClock } from "../../transport/index.js";
import { CONFIRMATION_MS, plainText, terminalRequired } from "../admin/index.js";
import { openTerminal, type Terminal } from "./terminal.js";

/**
 * Asks a person whether something is to be done; `question` says what, in words. Resolves to what they decided. Whoever gives another
 * one than `confirmAtTerminal` vouches that a person answers it, and no agent.
 */
export type Confirm = (question: string) => Promise<boolean>;

export interface TerminalConfirmOptions {
  /** The terminal of whoever is to be asked; `undefined` where there is none. */
  readonly open?: (() => Terminal | undefined) | undefined;
  /** A whole number from 0 up to `below`. */
  readonly random?: ((below: number) => number) | undefined;
  readonly clock?: Clock | undefined;
}

/** Without letters that are taken for others. */
const LETTERS = "abcdefghjkmnpqrstuvwxyz";
const WORD_LENGTH = 6;
/** Of a question that is shown. */
const MAX_CHARACTERS = 8_192;

/** As {@link confirmAtTerminal}, at a terminal of one's own. */
export function createTerminalConfirm(options: TerminalConfirmOptions = {}): Confirm {
  const { open = openTerminal, random = randomInt, clock = systemClock } = options;
  const ask: Confirm = async (question) => {
    const terminal = open();
    if (terminal === undefined) throw terminalRequired(question);
    const late = new AbortController();
    const stop = clock.schedule(CONFIRMATION_MS, () => late.abort());
    try {
      const word = Array.from({ length: WORD_LENGTH }, () => LETTERS.charAt(random(LETTERS.length))).join("");
      terminal.write(`\n${shownQuestion(question)}\nType ${word} to do it, anything else not to: `);
      const typed = await terminal.readLine(late.signal);
      const isConfirmed = typed?.trim() === word;
      terminal.write(isConfirmed ? "" : "\nNothing is done.\n");
      return isConfirmed;
    } catch {
      // It broke, so that nobody is there who could be asked.
      throw terminalRequired(question);
    } finally {
      stop();
      terminal.close();
    }
  };
  let last: Promise<unknown> = Promise.resolve();
  // Two questions at once would each get what is typed for the other.
  return (question) => {
    const asking = last.then(() => ask(question));
    last = asking.catch(ignore);
    return asking;
  };
}

/** What of a question is left out is said: it may be what matters. */
function shownQuestion(question: string): string {
  const left = question.length - MAX_CHARACTERS;
  const shown = plainText(question.slice(0, MAX_CHARACTERS));
  return left <= 0 ? shown : `${shown} and ${String(left)} characters more`;
}

/**
 * Asks at the terminal that the process was started from, which it opens itself: what is piped into the process answers nothing. A person
 * reads what will be done and types a word that is another one each time, within two minutes. Rejects with `terminal_required`
 * (`not_sent`) where there is no terminal.
 */
export const confirmAtTerminal: Confirm = createTerminalConfirm();

function ignore(): void {}

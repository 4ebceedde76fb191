/** Terminal sequences: colours, cursor movements, titles. */
// oxlint-disable-next-line no-control-regex
const TERMINAL_SEQUENCE = /\u001B(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001B]*(?:\u0007|\u001B\\))/g;

/** Control characters but for tab and line feed, and those that change the direction of text. */
// oxlint-disable-next-line no-control-regex
const CONTROL_CHARACTER = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u200E\u200F\u2028-\u202E\u2066-\u2069]/g;

/** Text that can be shown anywhere: without terminal sequences and control characters, tab and line feed kept. */
export function printableText(text: string): string {
  return text.replace(TERMINAL_SEQUENCE, "").replace(CONTROL_CHARACTER, "");
}

import { RemoteConnectorError } from "../../errors.js";

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;

/** How long to wait before a request is made again of which nothing was asked, so that a server can't make us spin. `pauses`: those before. Pure. */
export function pauseOfRound(pauses: number): number {
  return Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** pauses);
}

/** The server asked once more than is answered. */
export function tooManyRounds(maxInputRounds: number): RemoteConnectorError<"limit_exceeded"> {
  return new RemoteConnectorError("limit_exceeded", {
    message: "The server asks for input again and again; maxInputRounds raises the limit.",
    delivery: "answered",
    details: { option: "maxInputRounds", limit: maxInputRounds },
  });
}

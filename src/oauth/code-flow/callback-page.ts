import { STATUS_CODES } from "node:http";

/** What a browser that came back is told: how it ended, or, where that takes too long, that it came back. */
export type CallbackOutcome = "authorized" | "failed" | "received";

/** What is sent to a browser. */
export interface CallbackAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const SENTENCES: Readonly<Record<CallbackOutcome, readonly [title: string, sentence: string]>> = {
  authorized: ["Authorized", "The authorization is complete. You can close this window."],
  failed: ["Not authorized", "The authorization failed. You can close this window; the application says more."],
  received: ["Received", "The application goes on from here. You can close this window."],
};

/** Nothing is loaded, run, kept, framed or sent on, and the connection ends. */
const STRICT = {
  "cache-control": "no-store",
  connection: "close",
  "content-security-policy": "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
};

/** The page for a browser that came back. `html` makes it; without one, or where it fails, it is this package's own. */
export function callbackPage(
  outcome: CallbackOutcome,
  html: ((outcome: CallbackOutcome) => string) | undefined,
): CallbackAnswer {
  const body = ownPage(outcome, html);
  return { status: 200, headers: headersOf("text/html; charset=utf-8", body), body };
}

/** The answer to a request that changes nothing. Nothing of the request is in it. */
export function refusalPage(status: 400 | 404 | 405 | 503): CallbackAnswer {
  const body = `${STATUS_CODES[status] ?? ""}\n`;
  const headers = headersOf("text/plain; charset=utf-8", body);
  return { status, headers: status === 405 ? { ...headers, allow: "GET" } : headers, body };
}

function ownPage(outcome: CallbackOutcome, html: ((outcome: CallbackOutcome) => string) | undefined): string {
  try {
    const page: unknown = html?.(outcome);
    if (typeof page === "string") return page;
  } catch {
    // A person who waits for an answer is told by the page below.
  }
  const [title, sentence] = SENTENCES[outcome];
  return `<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>${title}</title>\n<h1>${title}</h1>\n<p>${sentence}</p>\n</html>\n`;
}

function headersOf(contentType: string, body: string): Readonly<Record<string, string>> {
  return { ...STRICT, "content-type": contentType, "content-length": String(Buffer.byteLength(body)) };
}

import { createHash } from "node:crypto";

/** The one style of the pages. */
export const PAGE_STYLE = `
body { font: 1rem/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem; color-scheme: light dark; }
table { border-collapse: collapse; width: 100%; }
caption { font-weight: 600; text-align: left; padding: .5rem 0; }
th, td { border-bottom: 1px solid #8888; padding: .35rem .75rem .35rem 0; text-align: left; vertical-align: top; }
`;

const STYLE_HASH = createHash("sha256").update(PAGE_STYLE, "utf8").digest("base64");

/** Nothing is loaded, run or framed, and forms go nowhere else. */
const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${STYLE_HASH}'`,
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** What every answer carries: nobody keeps it, frames it, or learns from where it was left. */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  "Cache-Control": "no-store",
  "Content-Security-Policy": POLICY,
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
};

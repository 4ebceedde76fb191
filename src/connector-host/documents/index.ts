export type { DocumentRow, DocumentRows, DocumentTx } from "./document-rows.js";
export { parseDocument } from "./parse-document.js";

// Lets the official suite load on Node 20, whose `node:fs` has no `globSync`. Nothing that is run here calls it.
// For `node --import`; modules other than the suite's own are left alone.
import { register } from "node:module";

const fs = `export * from "node:fs"; export { default } from "node:fs";
  export function globSync() { throw new Error("this Node has no globSync"); }`;
const hook = `export function resolve(specifier, context, next) {
  const bySuite = context.parentURL?.includes("/@modelcontextprotocol/conformance/dist/");
  if (!bySuite || !/^(?:node:)?fs$/.test(specifier)) return next(specifier, context);
  return { url: ${JSON.stringify(`data:text/javascript,${encodeURIComponent(fs)}`)}, shortCircuit: true };
}`;
if (!("globSync" in process.getBuiltinModule("node:fs"))) register(`data:text/javascript,${encodeURIComponent(hook)}`);

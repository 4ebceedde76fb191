/** The two parts of undici that every client needs. Its index loads all the others, which costs as much again. */
declare module "undici/lib/dispatcher/pool.js" {
  export { Pool as default } from "undici";
}

declare module "undici/lib/core/connect.js" {
  export { buildConnector as default } from "undici";
}

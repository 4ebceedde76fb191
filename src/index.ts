export * from "./errors.js";
export * from "./modern-client/index.js";

export { type RelayAddress, type RelayFactoryOptions } from "./relay-factory-options.js";
export { RelayFactory } from "./relay-factory.js";

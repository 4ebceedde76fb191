export { chooseDpopAlgorithm } from "./algorithm.js";
export type { ProverPorts } from "./key-prover.js";
export { createDpopProver, type DpopProverOptions, openDpopProver } from "./open-prover.js";

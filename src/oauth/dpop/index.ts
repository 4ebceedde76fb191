export { chooseDpopAlgorithm } from "./algorithm.js";
export { createDpopProver, openDpopProver } from "./open-prover.js";

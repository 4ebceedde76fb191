export { type InputConfig, InputRounds } from "./input-rounds.js";

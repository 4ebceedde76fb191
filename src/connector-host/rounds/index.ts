export type { OpenedState, SealedContent, StateKind, StateSealer } from "./state-sealer.js";

/** The public clock, under the name that the tests of this package have for it. */
export { settle, StepClock as FakeClock } from "../../src/testing/step-clock.js";

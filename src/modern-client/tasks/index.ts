export { startWithTasks, TaskCaller, type TaskHandle, type TaskUpdate } from "./task-caller.js";

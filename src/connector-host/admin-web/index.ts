export { AdminWeb } from "./admin-web.js";

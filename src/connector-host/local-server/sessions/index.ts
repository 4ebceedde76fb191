export { Session } from "./session.js";
export { SESSION_HEADER, SessionEndpoint } from "./session-endpoint.js";
export { Sessions } from "./sessions.js";

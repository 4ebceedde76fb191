export { agentAddress } from "./agent-address.js";
export { AGENT_PATH, BINDING_HEADER } from "./agent-path.js";
export { openAgentServer } from "./agent-server.js";

export { type Confirm, confirmAtTerminal } from "./confirm-at-terminal.js";
export { connectToHost, type ConnectToHostOptions, type HostConnection } from "./connect-to-host.js";
export { openControlServer } from "./control-server.js";
export {
  type ControlledAgents,
  type ControlledConnector,
  type ControlledIssue,
  type HostControl,
  type HostStatus,
} from "./host-control.js";

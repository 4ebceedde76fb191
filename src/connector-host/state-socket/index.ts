export { socketAddress, type SocketAddress } from "./socket-address.js";
export { listenInState, type StateSocket } from "./listen-in-state.js";

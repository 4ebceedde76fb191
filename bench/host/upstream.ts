/** The loopback server, which also tells what it costs. */
import { tellCpu } from "./tell-cpu.js";

tellCpu();
await import("../support/loopback-server.js");

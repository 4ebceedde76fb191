export { carefulLogger, type LogFields, type Logger as HostLogger, silentLogger } from "../../transport/index.js";

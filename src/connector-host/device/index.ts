export { type DeviceConnector, programConnector, registeredConnector } from "./device-connector.js";
export { type DeviceControl, type DeviceIncident, type EnvironmentSource, type SecretSource } from "./device-ports.js";
export { DeviceReconciler } from "./device-reconciler.js";
export { RegistrationFactory } from "./registration-factory.js";
export { type RegistrationFactoryOptions } from "./registration-factory-options.js";
export { RegistrationFiles } from "./registration-files.js";
export { createRegistrationMemory, type RegistrationStore } from "./registration-store.js";

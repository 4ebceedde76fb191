export { serviceToken, type ServiceContext } from "./service-token.js";

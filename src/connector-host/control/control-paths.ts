/** Paths of the control socket. A change that an older half would misread gets another version. */
export const STATUS_PATH = "/v1/status";
export const REFRESH_PATH = "/v1/refresh";

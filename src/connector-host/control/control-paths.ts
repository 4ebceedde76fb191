/** Paths of the control socket. A change that an older half would misread gets another version. */
export const STATUS_PATH = "/v1/status";
export const REFRESH_PATH = "/v1/refresh";
/** Before the name of a verb of the admin plane. */
export const ADMIN_PATH = "/v1/admin/";

/** Source: docs/reference/management-api.md#passwords-and-third-parties. */
export const MIN_PASSWORD = 8;
export const MAX_PASSWORD = 128;
/** In characters. */
export const MAX_NAME = 100;
export const MAX_IMAGE_ADDRESS = 2_048;
export const IMAGE_ADDRESS = /^https:\/\/[^\s\p{C}]+$/u;
/** In characters; longer values are refused. */
export const MAX_INVITATION_TOKEN = 200;

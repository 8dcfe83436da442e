/** From issue to expiry. Source: docs/reference/application-api.md#end-user-header. */
export const CHALLENGE_LIFETIME_SECONDS = 300;

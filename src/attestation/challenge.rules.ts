/** Lifetime of a challenge. Source: docs/reference/application-api.md#end-user-header. */
export const CHALLENGE_LIFETIME_SECONDS = 300;

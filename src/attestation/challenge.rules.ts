/** From issue to expiry. Source: specification, "Authentication" 6. */
export const CHALLENGE_LIFETIME_SECONDS = 300;

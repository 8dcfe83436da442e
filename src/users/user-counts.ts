/** How many users of an application are known, and how many of them are blocked. */
export interface UserCounts {
  readonly total: number;
  readonly blocked: number;
}

/** What is known of an application that never had any. */
export const NO_USERS: UserCounts = { total: 0, blocked: 0 };

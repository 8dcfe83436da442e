/** Numbers of known and of blocked users of an application. */
export interface UserCounts {
  readonly total: number;
  readonly blocked: number;
}

/** The counts of an application that never had users. */
export const NO_USERS: UserCounts = { total: 0, blocked: 0 };

/** Whether an application or provider accepts calls. */
export const STATUSES = ['active', 'disabled'] as const;

/** The sort orders of a list of applications. */
export const APP_ORDERS = ['id', 'name', 'users', 'requests', 'errors', 'cost'] as const;

export const ORDERS = ['asc', 'desc'] as const;

/** Whether calls of a user are accepted. */
export const USER_STATUSES = ['active', 'blocked'] as const;

/** Kinds of authentication events. */
export const AUTH_EVENTS = ['register', 'token_exchange'] as const;

/** Orders of the list of users. */
export const USER_ORDERS = ['recent', 'cost', 'budget'] as const;

/** Whether an application or provider takes calls. */
export const STATUSES = ['active', 'disabled'] as const;

/** What a list of applications is sorted by. */
export const APP_ORDERS = ['id', 'name', 'users', 'requests', 'errors', 'cost'] as const;

export const ORDERS = ['asc', 'desc'] as const;

/** Whether calls of a user are accepted. */
export const USER_STATUSES = ['active', 'blocked'] as const;

/** What an authentication event is about. */
export const AUTH_EVENTS = ['register', 'token_exchange'] as const;

/** Orders of the list of users. */
export const USER_ORDERS = ['recent', 'cost', 'budget'] as const;

/** The page of a user. The id is in the query: URL software changes some ids in a path. */
export function userPath(app: string, user: string): string {
  return `/apps/${app}/user?${new URLSearchParams({ user_id: user })}`;
}

/** Who of an application has spent their budget. */
export function atLimitPath(app: string): string {
  return `/apps/${app}/users?sort=budget&at_limit=true`;
}

/** Who of an application has spent most of their budget, or all of it. */
export function nearLimitPath(app: string): string {
  return `/apps/${app}/users?sort=budget&min_budget_percent=80`;
}

const MONTHS = 12;

/** The last months, newest first, as `2026-01`. */
export function lastMonths(): readonly [string, ...string[]] {
  const now = new Date();
  const ago = (back: number) =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - back, 1)).toISOString().slice(0, 7);
  return [ago(0), ...Array.from({ length: MONTHS - 1 }, (_, back) => ago(back + 1))];
}

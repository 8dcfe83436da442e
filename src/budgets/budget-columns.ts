import type { BudgetScope } from './budget-hold.js';
import type { BudgetWindow } from './budget-period.rules.js';

/** Key columns of `budget_periods`: one budget in one period. */
export const BUDGET_KEY = ['app_id', 'scope', 'subject', 'window_name', 'period_start'] as const;

/** The order in which all statements lock rows of `budget_periods`. @param table prefix of the columns, if any. */
export function budgetOrder(table?: string): string {
  return BUDGET_KEY.map((name) => {
    const column = table === undefined ? name : `${table}.${name}`;
    return name === 'period_start' ? column : `${column} COLLATE "C"`;
  }).join(', ');
}

/** The same columns in a column definition list. */
export const BUDGET_KEY_TYPES = BUDGET_KEY.map((name) => `${name} ${name === 'period_start' ? 'date' : 'text'}`).join(
  ', ',
);

/** Windows whose spending is stored with every event, whether a budget is set or not. */
export const STORED_WINDOWS = {
  app: ['day', 'week', 'month', 'total'],
  user: ['day', 'week', 'month'],
} as const satisfies Partial<Record<BudgetScope, readonly BudgetWindow[]>>;

const PERIOD_STARTS: Readonly<Record<BudgetWindow, (day: string) => string>> = {
  day: (day) => day,
  week: (day) => `date_trunc('week', ${day}::timestamp)::date`,
  month: (day) => `date_trunc('month', ${day}::timestamp)::date`,
  total: () => "date 'epoch'",
  run: () => "date 'epoch'",
};

/** A relation of the periods that a UTC day is in, as the columns window_name and period_start. @param day SQL. */
export function periodsOf(windows: readonly BudgetWindow[], day: string): string {
  const rows = windows.map((window) => `('${window}', ${PERIOD_STARTS[window](day)})`);
  return `(VALUES ${rows.join(', ')}) AS period(window_name, period_start)`;
}

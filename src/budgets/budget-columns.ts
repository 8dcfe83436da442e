import type { BudgetScope } from './budget-hold.js';
import { BUDGET_WINDOWS, type BudgetMeasure, type BudgetWindow, WINDOW_KINDS } from './budget-period.rules.js';

/** Key columns of `budget_periods`: one budget in one period. */
export const BUDGET_KEY = ['app_id', 'scope', 'subject', 'window_name', 'period_start'] as const;

/** The order in which all statements lock rows of `budget_periods`. @param table prefix of the columns, if any. */
export function budgetOrder(table?: string): string {
  return BUDGET_KEY.map((name) => {
    const column = table === undefined ? name : `${table}.${name}`;
    return name === 'period_start' ? column : `${column} COLLATE "C"`;
  }).join(', ');
}

const typeOf = (name: string) => (name === 'period_start' ? 'timestamp' : 'text');

/** The same columns in a column definition list. */
export const BUDGET_KEY_TYPES = BUDGET_KEY.map((name) => `${name} ${typeOf(name)}`).join(', ');

/** Windows whose spending is stored with every event, whether a budget is set or not. */
export const STORED_WINDOWS = {
  app: ['day', 'week', 'month', 'total'],
  user: ['day', 'week', 'month'],
} as const satisfies Partial<Record<BudgetScope, readonly BudgetWindow[]>>;

type StoredWindow = (typeof STORED_WINDOWS)['app' | 'user'][number];

const PERIOD_STARTS: Readonly<Record<StoredWindow, (day: string) => string>> = {
  day: (day) => `${day}::timestamp`,
  week: (day) => `date_trunc('week', ${day}::timestamp)`,
  month: (day) => `date_trunc('month', ${day}::timestamp)`,
  total: () => "timestamp 'epoch'",
};

/** A relation of the periods that a UTC day is in, as the columns window_name and period_start. @param day SQL. */
export function periodsOf(windows: readonly StoredWindow[], day: string): string {
  const rows = windows.map((window) => `('${window}', ${PERIOD_STARTS[window](day)})`);
  return `(VALUES ${rows.join(', ')}) AS period(window_name, period_start)`;
}

/** Whether an event names the budget, because it is charged only while a limit is set. */
export function isNamedByEvent(scope: BudgetScope, window: BudgetWindow): boolean {
  const stored: readonly string[] = scope === 'app' || scope === 'user' ? STORED_WINDOWS[scope] : [];
  return !stored.includes(window);
}

/** A relation of the budgets that an event names. @param limits the column with them, in SQL. */
export function namedBudgets(limits: string): string {
  const columns = BUDGET_KEY.filter((name) => name !== 'app_id').map((name) => `${name} ${typeOf(name)}`);
  return `jsonb_to_recordset(${limits}) AS named(${columns.join(', ')})`;
}

const windowsOf = (measure: BudgetMeasure) =>
  BUDGET_WINDOWS.filter((window) => WINDOW_KINDS[window].measure === measure)
    .map((window) => `'${window}'`)
    .join(', ');

/**
 * The charge of an event to a budget of {@link namedBudgets}, in the budget's measure. @param money its cost, in SQL.
 */
export function chargeToNamed(money: string): string {
  return `CASE WHEN named.window_name IN (${windowsOf('tokens')}) THEN coalesce(charged_tokens, 0)
    WHEN named.window_name IN (${windowsOf('requests')}) THEN requests ELSE ${money} END`;
}

/** An amount of money where a budget of {@link namedBudgets} is one of money; 0 for the others. */
export function moneyOfNamed(money: string): string {
  return `CASE WHEN named.window_name IN (${windowsOf('money')}) THEN ${money} ELSE 0 END`;
}

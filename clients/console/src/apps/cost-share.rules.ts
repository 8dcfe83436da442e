import { moneyText } from '../design/amounts.rules';

const FULL = 100;

interface Spent {
  readonly cost_usd: number;
  readonly estimated_cost_usd: number;
}

/** What the bar beside a cost shows, and the words under it: a share of the budget, without one of all cost. */
export function shareOf(
  { cost_usd: cost, estimated_cost_usd: estimated }: Spent,
  budgetUsd: number | null,
  totalCostUsd: number,
): { readonly part: number; readonly all: number; readonly label: string } {
  if (budgetUsd === null) return { part: cost, all: totalCostUsd, label: 'of all' };
  // Estimates count against budgets.
  return { part: cost + estimated, all: budgetUsd, label: `of ${moneyText(budgetUsd)}` };
}

/** The width of a bar in per cent. Nothing of nothing is empty; a budget of nothing is used up. */
export function barWidth(part: number, all: number): number {
  if (all === 0) return part === 0 ? 0 : FULL;
  return Math.min(part / all, 1) * FULL;
}

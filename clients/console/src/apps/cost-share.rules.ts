import { moneyText } from '../design/amounts.rules';

const FULL = 100;

interface Spent {
  readonly cost_usd: number;
  readonly estimated_cost_usd: number;
}

/** The bar next to a cost, and the text below it: a share of the budget, or without a budget of all cost. */
export function shareOf(
  { cost_usd: cost, estimated_cost_usd: estimated }: Spent,
  budgetUsd: number | null,
  totalCostUsd: number,
): { readonly part: number; readonly all: number; readonly label: string } {
  if (budgetUsd === null) return { part: cost, all: totalCostUsd, label: 'of all' };
  // Estimates count against budgets.
  return { part: cost + estimated, all: budgetUsd, label: `of ${moneyText(budgetUsd)}` };
}

/** The width of a bar in percent. 0 of 0 is empty; a budget of 0 is used up. */
export function barWidth(part: number, all: number): number {
  if (all === 0) return part === 0 ? 0 : FULL;
  return Math.min(part / all, 1) * FULL;
}

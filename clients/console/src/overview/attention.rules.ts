import type { Schemas } from '../api/client';
import { nearLimitPath } from '../apps/user-address';
import { countedText, moneyText, shareText } from '../design/amounts.rules';

export type AttentionItem = Schemas['AttentionItemResponse'];

/** The text of an item, and where to fix it. */
export interface AttentionText {
  readonly title: string;
  readonly detail: string;
  readonly to: string;
  readonly act: string;
  readonly isUrgent: boolean;
}

const PERIODS = {
  day: 'today (UTC)',
  week: 'this week (from Monday, UTC)',
  month: 'this month (UTC)',
  total: 'in total',
} as const satisfies Record<NonNullable<AttentionItem['window']>, string>;

/** An item of the list in words. */
export function attentionText(item: AttentionItem): AttentionText {
  const { kind, name, app_id: app, app_name: appName, count, amount_usd: amount, budget_usd: budget } = item;
  const share = shareText(amount ?? 0, budget ?? 0);
  const when = PERIODS[item.window ?? 'month'];
  switch (kind) {
    case 'provider_failing':
      return {
        title: `${name} is failing`,
        detail: `The last ${countedText(count, 'call')} failed.`,
        to: '/providers',
        act: 'Test the provider',
        isUrgent: true,
      };
    case 'app_budget':
      return {
        title: `${name} has used ${share} of its budget`,
        detail: `${moneyText(amount ?? 0)} of ${moneyText(budget ?? 0)} ${when}.`,
        to: `/apps/${app}/limits`,
        act: 'Change the budget',
        isUrgent: (amount ?? 0) >= (budget ?? 0),
      };
    case 'user_budgets':
      return {
        title: `${countedText(count, 'user')} of ${name} ${count === 1 ? 'has' : 'have'} used 80% of the budget or more`,
        detail: `The most is ${share} of ${moneyText(budget ?? 0)} ${when}.`,
        to: nearLimitPath(app ?? ''),
        act: 'See users',
        isUrgent: (amount ?? 0) >= (budget ?? 0),
      };
    case 'unresolved_costs':
      return {
        title: `${countedText(count, 'call')} of ${name} ${count === 1 ? 'has' : 'have'} an unresolved cost`,
        detail: `In the last 30 days; estimated at ${moneyText(amount ?? 0)}.`,
        to: `/apps/${app}/usage`,
        act: 'Correct costs',
        isUrgent: false,
      };
    case 'unused_app_key':
      return {
        title: `Key “${name}” of ${appName} is unused`,
        detail: 'It has not been used for 90 days.',
        to: `/apps/${app}/auth`,
        act: 'Revoke the key',
        isUrgent: false,
      };
    case 'unused_management_key':
      return {
        title: `Management key “${name}” is unused`,
        detail: 'It has not been used for 90 days.',
        to: '/access',
        act: 'Revoke the key',
        isUrgent: false,
      };
  }
}

import type { AppRow } from '../app-directory/app.entity.js';
import type { StoredConfig } from '../app-directory/app-config-parser.js';
import type { KnownProvider } from '../app-directory/config/app-references.rules.js';
import {
  allowedModelCount,
  authenticationType,
  bundleId,
  monthlyBudgetUsd,
  referencedProviders,
} from '../app-directory/config/app-summary.rules.js';
import type { Authentication } from '../app-directory/config/authentication-config.js';
import { NO_USAGE, type UsageTotals } from '../usage/reports/usage-totals.rules.js';
import { NO_USERS, type UserCounts } from '../users/user-views.repository.js';
import { routedProviders } from './app-readiness.rules.js';

/** An application in the list of its account. Source: docs/reference/management-api.md#application-routes. */
export interface AppSummary extends ConfigSummary {
  readonly app: AppRow;
  readonly users: UserCounts;
  readonly usage: UsageTotals;
}

interface ConfigSummary {
  readonly authenticationType: Authentication['type'] | 'invalid';
  readonly bundleId: string | null;
  /** Slugs of the active providers that it can reach. */
  readonly providers: readonly string[];
  /** Slugs and types that its configuration names. */
  readonly referencedProviders: readonly string[];
  readonly allowedModelCount: number;
  readonly monthlyBudgetUsd: number | null;
}

/** Recorded data of an application; `undefined` without records. */
interface Recorded {
  readonly users: UserCounts | undefined;
  readonly usage: UsageTotals | undefined;
}

const UNREADABLE: ConfigSummary = {
  authenticationType: 'invalid',
  bundleId: null,
  providers: [],
  referencedProviders: [],
  allowedModelCount: 0,
  monthlyBudgetUsd: null,
};

/**
 * Summarises an application. One whose configuration no longer parses reaches no provider.
 *
 * @param account every provider of the account.
 */
export function summarizeApp(
  app: AppRow,
  stored: StoredConfig,
  account: readonly KnownProvider[],
  { users = NO_USERS, usage = NO_USAGE }: Recorded,
): AppSummary {
  return { app, users, usage, ...summarizeConfig(stored, account) };
}

function summarizeConfig({ config }: StoredConfig, account: readonly KnownProvider[]): ConfigSummary {
  if (config === undefined) return UNREADABLE;
  const active = account.filter((provider) => provider.status === 'active');
  return {
    authenticationType: authenticationType(config),
    bundleId: bundleId(config),
    providers: routedProviders(config, active).map((provider) => provider.slug),
    referencedProviders: referencedProviders(config),
    allowedModelCount: allowedModelCount(config),
    monthlyBudgetUsd: monthlyBudgetUsd(config),
  };
}

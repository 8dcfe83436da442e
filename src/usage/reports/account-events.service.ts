import { Injectable } from '@nestjs/common';
import { Clock, dayStartMs } from '../../common/clock.js';
import { type DayRange, dayRange } from '../../common/day-range.rules.js';
import type { UsageEventRow } from '../recording/usage-rows.js';
import type { UsageScope } from '../recording/usage-sums.repository.js';
import {
  type AccountEventFilter,
  AccountEventsRepository,
  type EventPlace,
  type TimeRange,
} from './account-events.repository.js';
import type { AskedUsage } from './account-usage.service.js';
import { csvLine, exactUsd } from './csv.rules.js';
import { estimateOf } from './usage-totals.rules.js';

/** Events that one request examines: a search that finds nothing then takes a fraction of a second. */
const PART = 100_000;
const DAY_MS = 24 * 60 * 60 * 1000;
/** Events of one statement of a CSV file. */
const CSV_PAGE = 2_000;

export interface AskedEvents extends AccountEventFilter, AskedUsage {}

export interface AskedPage {
  /** Maximum events, 1 or more. */
  readonly limit: number;
  /** From `next`. */
  readonly before?: EventPlace | undefined;
}

export interface AccountEventPage extends DayRange {
  readonly appId: string | null;
  readonly limit: number;
  /** Newest first. */
  readonly events: readonly UsageEventRow[];
  /** Where the search continues; null: the period has no more. */
  readonly next: EventPlace | null;
}

/** Columns of the CSV file, in order. */
const COLUMNS: Readonly<Record<string, (event: UsageEventRow) => string | number | null>> = {
  id: ({ id }) => id,
  created_at: ({ created_at: createdAt }) => createdAt.toISOString(),
  app: ({ app_id: app }) => app,
  status: ({ status }) => status,
  requests: ({ requests }) => requests,
  refusal_code: ({ refusal }) => refusal?.code ?? null,
  refusal_message: ({ refusal }) => refusal?.message ?? null,
  user: ({ user_id: user }) => user,
  key: ({ api_key_id: key }) => key,
  endpoint: ({ endpoint_slug: endpoint }) => endpoint,
  provider_type: ({ provider_type: type }) => type,
  provider: ({ provider_slug: slug }) => slug,
  model: ({ model }) => model,
  route: ({ route }) => route,
  input_tokens: ({ input_tokens: tokens }) => tokens,
  cached_input_tokens: ({ cached_input_tokens: tokens }) => tokens,
  cache_write_tokens: ({ cache_write_tokens: tokens }) => tokens,
  output_tokens: ({ output_tokens: tokens }) => tokens,
  cost_usd: ({ cost_nano_usd: cost }) => exactUsd(cost),
  estimated_cost_usd: (event) => exactUsd(estimateOf(event)),
  cost_source: ({ cost_source: source }) => source,
  latency_ms: ({ latency_ms: latency }) => latency,
  duration_ms: ({ duration_ms: duration }) => duration,
  app_version: ({ app_version: version }) => version,
};

/** Reads the events of a whole account, or of one application of it. */
@Injectable()
export class AccountEvents {
  constructor(
    private readonly events: AccountEventsRepository,
    private readonly clock: Clock,
  ) {}

  /** @throws invalid_request as `dayRange` does. */
  async pageOf(scope: UsageScope, asked: AskedEvents, { limit, before }: AskedPage): Promise<AccountEventPage> {
    const range = dayRange(asked, this.clock.utcDay());
    const { events, last } = await this.events.search(scope, timeOf(range), asked, {
      ...{ before, part: PART, limit },
    });
    return { appId: scope.id, ...range, limit, events, next: last };
  }

  /**
   * The events of the period as lines of CSV, read while they are sent. The first are read before, so that a database
   * that does not answer is an error of the route.
   *
   * @throws invalid_request as `dayRange` does.
   */
  async linesOf(scope: UsageScope, asked: AskedEvents): Promise<AsyncIterable<string>> {
    const range = dayRange(asked, this.clock.utcDay());
    const search = (before: EventPlace | undefined) =>
      this.events.search(scope, timeOf(range), asked, { before, part: PART, limit: CSV_PAGE });
    const first = await search(undefined);
    async function* lines() {
      yield csvLine(Object.keys(COLUMNS));
      for (let { events, last } = first; ; { events, last } = await search(last)) {
        if (events.length > 0) yield events.map(lineOf).join('');
        if (last === null) return;
      }
    }
    return lines();
  }
}

function timeOf({ from, to }: DayRange): TimeRange {
  return { fromMs: dayStartMs(from), untilMs: dayStartMs(to) + DAY_MS };
}

function lineOf(event: UsageEventRow): string {
  return csvLine(Object.values(COLUMNS).map((read) => read(event)));
}

import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Clock, dayStartMs } from '../../common/clock.js';
import { SettledUsageRepository } from '../recording/settled-usage.repository.js';
import { firstEventDay } from '../recording/usage-range.rules.js';
import type { UsageScope } from '../recording/usage-sums.repository.js';
import { AccountEventsRepository, type EventPlace, type TimeRange } from '../reports/account-events.repository.js';
import { type ExportFormatName, exportFormat } from './export-formats.rules.js';
import { type AskedPeriod, cursorOf, type ExportedUsage, periodOf, readCursor } from './usage-export.rules.js';

/** Events that one statement examines, at most. */
const PART = 100_000;
/** Events of one statement: parsing and writing them does not hold the event loop for long. */
const STATEMENT_EVENTS = 2_000;
/** A page ends with the statement that reaches one of these. */
const PAGE_EVENTS = 10_000;
const PAGE_BYTES = 8 * 1024 * 1024;
const PAGE_STATEMENTS = 8;

/** An export as it was asked for. */
export interface AskedExport extends AskedPeriod {
  readonly format: ExportFormatName;
}

/** A part of an export. */
export interface ExportPage {
  readonly type: string;
  readonly bytes: Buffer;
  /** Null on the last page. */
  readonly cursor: string | null;
}

/** What an export consists of. Source: docs/reference/management-api.md#export-of-usage. */
export interface ExportManifest {
  readonly rows: number;
  readonly sumNanoUsd: bigint;
  readonly sha256: string;
  readonly range: TimeRange;
  /** The end of what is exported, at most that of the range: no event of an earlier time will be added. */
  readonly settledUntilMs: number;
  readonly isComplete: boolean;
}

/** The events of one statement, as they are written. */
interface ExportPart {
  readonly rows: number;
  readonly sumNanoUsd: bigint;
  readonly bytes: Buffer;
  /** Where the next part begins; null: the period has no more. */
  readonly last: EventPlace | null;
}

/**
 * Exports usage events, newest first, page by page: a page is read when it is asked for, and nothing is kept between
 * pages. The first page fixes the end of the export, so that calls that end meanwhile are not in it.
 */
@Injectable()
export class UsageExports {
  constructor(
    private readonly events: AccountEventsRepository,
    private readonly settled: SettledUsageRepository,
    private readonly clock: Clock,
  ) {}

  /**
   * @param cursor of the page before; the first page when absent.
   * @throws invalid_request as `periodOf` and `readCursor` do.
   */
  async pageOf(scope: UsageScope, asked: AskedExport, cursor: string | undefined): Promise<ExportPage> {
    const { format } = asked;
    const { type, head } = exportFormat(format);
    const begun = cursor === undefined ? undefined : readCursor(cursor, { scope, ...asked });
    const range = begun?.range ?? this.settledPartOf(this.periodOf(asked), await this.settledMs());
    const exported = { scope, format, range };
    const parts: Buffer[] = begun === undefined ? [Buffer.from(head)] : [];
    let last: EventPlace | null = null;
    let [rows, bytes, statements] = [0, 0, 0];
    for await (const part of this.partsOf(exported, begun?.place)) {
      parts.push(part.bytes);
      last = part.last;
      rows += part.rows;
      bytes += part.bytes.length;
      if (rows >= PAGE_EVENTS || bytes >= PAGE_BYTES || ++statements >= PAGE_STATEMENTS) break;
    }
    return { type, bytes: Buffer.concat(parts), cursor: last === null ? null : cursorOf(exported, last) };
  }

  /**
   * Reads the whole export once.
   *
   * @param isAwaited false: nobody waits for the result any more, and it is wrong.
   * @throws invalid_request as `periodOf` does.
   */
  async manifestOf(scope: UsageScope, asked: AskedExport, isAwaited: () => boolean): Promise<ExportManifest> {
    const range = this.periodOf(asked);
    const settledMs = await this.settledMs();
    const exported = { scope, format: asked.format, range: this.settledPartOf(range, settledMs) };
    const hash = createHash('sha256').update(exportFormat(asked.format).head);
    let rows = 0;
    let sumNanoUsd = 0n;
    for await (const part of this.partsOf(exported, undefined)) {
      hash.update(part.bytes);
      rows += part.rows;
      sumNanoUsd += part.sumNanoUsd;
      if (!isAwaited()) break;
    }
    const isKept = range.fromMs >= dayStartMs(firstEventDay(this.clock.utcDay()));
    const settledUntilMs = Math.min(range.untilMs, settledMs);
    const isComplete = isKept && settledUntilMs === range.untilMs;
    return { rows, sumNanoUsd, sha256: hash.digest('hex'), range, settledUntilMs, isComplete };
  }

  private periodOf(asked: AskedPeriod): TimeRange {
    return periodOf(asked, this.clock.nowMs(), this.clock.utcDay());
  }

  /** Nothing where the period begins later. */
  private settledPartOf({ fromMs, untilMs }: TimeRange, settledMs: number): TimeRange {
    return { fromMs, untilMs: Math.max(fromMs, Math.min(untilMs, settledMs)) };
  }

  private async settledMs(): Promise<number> {
    return (await this.settled.settledUntilMs()) ?? this.clock.nowMs();
  }

  private async *partsOf(
    { scope, format, range }: ExportedUsage,
    start: EventPlace | undefined,
  ): AsyncIterable<ExportPart> {
    const { lineOf, statuses } = exportFormat(format);
    let before = start;
    for (;;) {
      const { events, last } = await this.events.search(
        scope,
        range,
        { statuses },
        { before, part: PART, limit: STATEMENT_EVENTS },
      );
      const sumNanoUsd = events.reduce((sum, { cost_nano_usd: cost }) => sum + BigInt(cost), 0n);
      yield { rows: events.length, sumNanoUsd, bytes: Buffer.from(events.map(lineOf).join('')), last };
      if (last === null) return;
      before = last;
    }
  }
}

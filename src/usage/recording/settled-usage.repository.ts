import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { Instant } from '../../common/clock.js';

/**
 * How far usage is settled: until when every instance, also a dead one whose journal is not recovered, has stored its
 * events. A dead instance is forgotten after a day. One that has published nothing has no calls from before its start.
 */
const SETTLED_UNTIL = `
  SELECT (extract(epoch FROM min(coalesce(settled_until, started_at))) * 1000)::float8 AS ms
  FROM gateway_instances
  WHERE settled_until IS DISTINCT FROM 'infinity' AND seen_at > clock_timestamp() - interval '1 day'`;

/** Reads and writes in `gateway_instances` until when usage is complete. */
@Injectable()
export class SettledUsageRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** @param openCalls requests of the instance without a stored event. */
  async publish(instanceId: string, openCalls: number, settledUntil: Instant): Promise<void> {
    await this.dataSource.query('UPDATE gateway_instances SET open_calls = $2, settled_until = $3 WHERE id = $1', [
      ...[instanceId, openCalls, settledUntil],
    ]);
  }

  /** The journal of a dead instance is stored: it will have no further events. */
  async recovered(instanceId: string): Promise<void> {
    await this.dataSource.query("UPDATE gateway_instances SET settled_until = 'infinity' WHERE id = $1", [instanceId]);
  }

  /**
   * Events of earlier times are stored, and none will be added. Milliseconds since the Unix epoch; undefined: no
   * instance records any.
   */
  async settledUntilMs(): Promise<number | undefined> {
    const [row] = await this.dataSource.query<{ ms: number | null }[]>(SETTLED_UNTIL);
    return row?.ms == null ? undefined : Math.floor(row.ms);
  }
}

import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { BackgroundDataSource } from '../../platform/database/pools.js';

/** How long providers keep objects, where nothing else is known. */
const KEPT = '30 days';

/** An object that a provider made for an application. */
export interface KeptObject {
  readonly appId: string;
  /** Null: made without a user. */
  readonly userId: string | null;
  /** The provider's id: 1 to 256 printable ASCII characters. */
  readonly id: string;
}

/** The owners of objects that providers keep: rows of `kept_objects`, and responses in `usage_events`. */
@Injectable()
export class KeptObjectsRepository {
  constructor(
    private readonly dataSource: DataSource,
    private readonly background: BackgroundDataSource,
  ) {}

  /** Stores objects; one that has an owner keeps it. Objects of deleted applications are left out. */
  async store(objects: readonly KeptObject[]): Promise<void> {
    await this.background.query(
      `INSERT INTO kept_objects (app_id, object_id, user_id, kept_until)
       SELECT app.id, made.id, made.user_id, now() + interval '${KEPT}'
       FROM json_to_recordset($1) AS made(app_id text, id text, user_id text) JOIN apps app ON app.id = made.app_id
       ORDER BY app.id, made.id
       ON CONFLICT (app_id, object_id) DO NOTHING`,
      [JSON.stringify(objects.map(({ appId, userId, id }) => ({ app_id: appId, user_id: userId, id })))],
    );
  }

  /** The users that stored objects of an application were made for, by id. Application ids are never reused. */
  async findOwners(appId: string, ids: readonly string[]): Promise<ReadonlyMap<string, string | null>> {
    const rows = await this.dataSource.query<{ id: string; userId: string | null }[]>(
      `SELECT kept.object_id AS id, kept.user_id AS "userId" FROM kept_objects kept
       WHERE kept.app_id = $1 AND kept.object_id = ANY($2)
       UNION ALL
       (SELECT DISTINCT ON (event.response_id) event.response_id, event.user_id FROM usage_events event
       WHERE event.app_id = $1 AND event.response_id = ANY($2) ORDER BY event.response_id, event.id)`,
      [appId, ids],
    );
    return new Map(rows.map(({ id, userId }) => [id, userId]));
  }
}

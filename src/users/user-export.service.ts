import { Injectable } from '@nestjs/common';
import type { AppRef } from '../app-directory/app.entity.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import { USER_TABLE_NAMES, UserDataRepository } from './user-data.repository.js';

/** Rows of one statement. */
const PART = 1_000;

/** Exports all that is stored about a user. */
@Injectable()
export class UserExport {
  constructor(private readonly repository: UserDataRepository) {}

  /**
   * One line of JSON for each row, read while they are sent, table by table.
   *
   * @throws not_found nothing is stored about such a user.
   */
  async linesOf(app: AppRef, userId: string): Promise<AsyncIterable<string>> {
    const lines = this.read(app, userId);
    const first = await lines.next();
    if (first.done === true) throw new GatewayError('not_found');
    const begun = first.value;
    async function* all() {
      yield begun;
      yield* lines;
    }
    return all();
  }

  private async *read(app: AppRef, userId: string): AsyncGenerator<string, void, undefined> {
    for (const table of USER_TABLE_NAMES) {
      for (let after: readonly string[] | undefined, isLast = false; !isLast; isLast = after === undefined) {
        const found = await this.repository.read(table, app, userId, { after, limit: PART });
        after = found.after;
        if (found.rows.length > 0) yield found.rows.map((row) => `{"table":"${table}","row":${row}}\n`).join('');
      }
    }
  }
}

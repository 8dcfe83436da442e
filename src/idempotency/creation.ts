import type { DataSource, EntityManager } from 'typeorm';
import type { CreationAnswer } from './receipt.js';

/**
 * Runs the statements of a creation in its one transaction. What they return is what was created; `undefined` when
 * nothing was.
 *
 * The statements ask nothing of another connection: all of them could be held by those who wait for one.
 */
export type Write<T> = <R extends T | undefined>(statements: (tx: EntityManager) => Promise<R>) => Promise<R>;

/** Stores the receipt of an answer, in the transaction of the creation. */
type KeepReceipt = (tx: EntityManager, answer: CreationAnswer<object>) => Promise<void>;

/** A creation as its request asked for it: with a receipt, when it named an idempotency key. */
export class Creation {
  constructor(
    private readonly dataSource: DataSource,
    private readonly keepReceipt: KeepReceipt | undefined,
  ) {}

  /**
   * Creates and answers.
   *
   * The receipt is written last, so that whoever waits for the same receipt of somebody else holds nothing that the
   * other one still needs; the loser's statements are undone as a whole.
   *
   * @param create the use case; whatever it writes, it writes by the function it is given.
   * @param toAnswer must not wait for anything: the transaction is open.
   * @throws unknown whatever `create` throws, and a violation of `creation_receipts_pkey` by the loser of a race.
   */
  async run<T, A extends object>(
    create: (write: Write<T>) => Promise<T>,
    toAnswer: (created: T) => CreationAnswer<A>,
  ): Promise<A> {
    const write: Write<T> = (statements) =>
      this.dataSource.transaction(async (tx) => {
        const created = await statements(tx);
        if (created !== undefined) await this.keepReceipt?.(tx, toAnswer(created));
        return created;
      });
    return toAnswer(await create(write)).body;
  }
}

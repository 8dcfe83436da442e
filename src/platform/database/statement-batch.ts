/** Statements that run at the same time: one that waits for a lock does not stop the others. */
const MOST_RUNNING = 2;
/** Maximum items of a statement. */
const MOST_AT_ONCE = 500;

interface Waiting<Item, Answer> {
  readonly item: Item;
  readonly answered: (answer: Answer) => void;
  readonly failed: (error: unknown) => void;
}

/**
 * Combines the queries of many calls: while statements run, further items wait, and the next statement takes all of
 * them.
 */
export class StatementBatch<Item, Answer> {
  private waiting: Waiting<Item, Answer>[] = [];
  private running = 0;
  private isPlanned = false;

  /** @param statement sends one statement and answers in the order of the items; when it rejects, all items do. */
  constructor(private readonly statement: (items: readonly Item[]) => Promise<readonly Answer[]>) {}

  add(item: Item): Promise<Answer> {
    return new Promise((answered, failed) => {
      this.waiting.push({ item, answered, failed });
      this.plan();
    });
  }

  /** Starts what waits at the end of the turn, so that its items go together. */
  private plan(): void {
    if (this.waiting.length === 0 || this.isPlanned || this.running >= MOST_RUNNING) return;
    this.isPlanned = true;
    setImmediate(() => {
      this.isPlanned = false;
      void this.run(this.waiting.splice(0, MOST_AT_ONCE));
    });
  }

  private async run(batch: readonly Waiting<Item, Answer>[]): Promise<void> {
    this.running++;
    this.plan();
    try {
      const answers = await this.statement(batch.map(({ item }) => item));
      if (answers.length !== batch.length) throw new Error(`${answers.length} answers for ${batch.length} items`);
      for (const [at, answer] of answers.entries()) batch[at]?.answered(answer);
    } catch (error) {
      for (const { failed } of batch) failed(error);
    } finally {
      this.running--;
      this.plan();
    }
  }
}

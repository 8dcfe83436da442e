import { Failure } from '../program/failure.js';

const CODE = 'invalid_configuration';

/** A file that is not what it must be. */
export function invalid(file: string, line: number, problem: string, nextAction?: string): Failure {
  const details = { problems: [{ file, line, problem }] };
  const facts = { details, ...(nextAction !== undefined && { nextAction }) };
  return Failure.input(CODE, `${file}:${line}: ${problem}`, facts);
}

/** A file that is no YAML. */
export function unreadable(file: string, problem: string): Failure {
  return Failure.input(CODE, `${file}: ${problem}`, { details: { problems: [{ file, problem }] } });
}

/** Collects what is wrong with files, so that it is all told at once. */
export class Problems {
  private readonly found: Failure[] = [];

  add(problem: Failure): void {
    this.found.push(problem);
  }

  get count(): number {
    return this.found.length;
  }

  /** What a part comes to; undefined where that is a problem of a file. @throws every other failure. */
  async attempt<T>(part: () => T | Promise<T>): Promise<T | undefined> {
    try {
      return await part();
    } catch (error) {
      this.take(error);
      return undefined;
    }
  }

  /** As `attempt`, of what does not wait. */
  collect<T>(part: () => T): T | undefined {
    try {
      return part();
    } catch (error) {
      this.take(error);
      return undefined;
    }
  }

  /** @throws Failure all problems, one in each line. */
  throwIfAny(): void {
    const [first, ...others] = this.found;
    if (first === undefined) return;
    if (others.length === 0) throw first;
    const nextAction = this.found.find((failure) => failure.nextAction !== null)?.nextAction;
    throw Failure.input(CODE, this.found.map(({ message }) => message).join('\n'), {
      details: { problems: this.found.flatMap(({ details }) => Object(details).problems) },
      ...(typeof nextAction === 'string' && { nextAction }),
    });
  }

  private take(error: unknown): void {
    if (!(error instanceof Failure) || error.code !== CODE) throw error;
    this.found.push(error);
  }
}

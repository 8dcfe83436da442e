import { Failure } from '../program/failure.js';

const CODE = 'invalid_configuration';

/** A part of a file. */
export interface Place {
  readonly file: string;
  readonly line: number;
  /** Path of the part in the file; empty for the file as a whole. */
  readonly path: string;
}

/** An invalid part of a file. */
export function invalid({ file, line, path }: Place, problem: string, nextAction?: string): Failure {
  const said = path === '' ? problem : `${path}: ${problem}`;
  const told = { file, line, problem: said };
  const facts = { details: { problems: [told] }, ...(nextAction !== undefined && { nextAction }) };
  return Failure.input(CODE, textOf(told), facts);
}

/** A problem as reported. */
interface Told {
  readonly file: string;
  readonly line: number;
  readonly problem: string;
}

const textOf = ({ file, line, problem }: Told) => `${file}:${line}: ${problem}`;

/** The problems in the details of a failure of this kind. */
export const problemsIn = (details: unknown): readonly Told[] => Object(details).problems ?? [];

/** Collects problems of files, so that all are reported at once. */
export class Problems {
  private readonly found: Failure[] = [];

  add(problem: Failure): void {
    this.found.push(problem);
  }

  get count(): number {
    return this.found.length;
  }

  /** The result of reading a part; undefined if it has a problem. @throws every other failure. */
  async attempt<T>(part: () => T | Promise<T>): Promise<T | undefined> {
    try {
      return await part();
    } catch (error) {
      this.take(error);
      return undefined;
    }
  }

  /** As `attempt`, but synchronous. */
  collect<T>(part: () => T): T | undefined {
    try {
      return part();
    } catch (error) {
      this.take(error);
      return undefined;
    }
  }

  /** @throws Failure with all problems, one per line. */
  throwIfAny(): void {
    const [first, ...others] = this.found;
    if (first === undefined) return;
    if (others.length === 0) throw first;
    // A problem that several environments share is reported once.
    const told = new Map(
      this.found.flatMap(({ details }) => problemsIn(details).map((one) => [textOf(one), one] as const)),
    );
    const nextAction = this.found.find((failure) => failure.nextAction !== null)?.nextAction;
    throw Failure.input(CODE, [...told.keys()].join('\n'), {
      details: { problems: [...told.values()] },
      ...(typeof nextAction === 'string' && { nextAction }),
    });
  }

  private take(error: unknown): void {
    if (!(error instanceof Failure) || error.code !== CODE) throw error;
    this.found.push(error);
  }
}

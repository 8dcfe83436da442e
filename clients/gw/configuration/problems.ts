import { Failure } from '../program/failure.js';

const CODE = 'invalid_configuration';

/** A part of a file. */
export interface Place {
  readonly file: string;
  readonly line: number;
  /** The part as the file names it; empty for the file as a whole. */
  readonly path: string;
}

/** A part of a file that is not what it must be. */
export function invalid({ file, line, path }: Place, problem: string, nextAction?: string): Failure {
  const said = path === '' ? problem : `${path}: ${problem}`;
  const told = { file, line, problem: said };
  const facts = { details: { problems: [told] }, ...(nextAction !== undefined && { nextAction }) };
  return Failure.input(CODE, textOf(told), facts);
}

/** A problem as it is told. */
interface Told {
  readonly file: string;
  readonly line: number;
  readonly problem: string;
}

const textOf = ({ file, line, problem }: Told) => `${file}:${line}: ${problem}`;

/** The problems in the details of a failure of this kind. */
export const problemsIn = (details: unknown): readonly Told[] => Object(details).problems ?? [];

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
    // What several environments have in common is told once.
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

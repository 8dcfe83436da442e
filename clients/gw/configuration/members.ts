import { isTable } from './layers.rules.js';
import { invalid, type Place, Problems } from './problems.js';

/** The place of a member. @param name empty: the object as a whole. */
export type PlaceOf = (name: string) => Place;

type Table = Readonly<Record<string, unknown>>;

/** The members of a value. @throws Failure it has none. */
export function tableAt(at: PlaceOf, value: unknown): Table {
  if (isTable(value)) return value;
  throw invalid(at(''), 'must hold members');
}

/** Reads the members of an object in a file by type. `end` reports the problems. */
export class Members {
  private readonly problems = new Problems();

  constructor(
    private readonly at: PlaceOf,
    private readonly members: Table,
  ) {}

  allow(names: readonly string[]): void {
    for (const stranger of Object.keys(this.members).filter((name) => !names.includes(name))) {
      this.problem(stranger, `is not a known member; use ${names.join(', ')}`);
    }
  }

  /** @param form that it must have, and what that is. */
  text(name: string, [form, meaning]: readonly [RegExp, string] = [/\S/, 'must be text']): string {
    const value = this.members[name];
    if (typeof value !== 'string' || value.trim() === '') {
      this.problem(name, value === undefined ? 'is missing' : 'must be text');
      return '';
    }
    if (!form.test(value)) this.problem(name, meaning);
    return value;
  }

  optionalText(name: string, form?: readonly [RegExp, string]): string | null {
    return this.has(name) ? this.text(name, form) : null;
  }

  /** One text, or a list of them. */
  texts(name: string, form: readonly [RegExp, string]): readonly string[] {
    const value = this.members[name];
    if (!Array.isArray(value)) return [this.text(name, form)];
    const wrong = value.length === 0 || value.some((item) => typeof item !== 'string' || !form[0].test(item));
    if (wrong) this.problem(name, form[1]);
    return wrong ? [] : value;
  }

  object(name: string): Table {
    const value = this.members[name];
    if (isTable(value)) return value;
    this.problem(name, value === undefined ? 'is missing' : 'must hold members');
    return {};
  }

  optionalObject(name: string): Table | null {
    return this.has(name) ? this.object(name) : null;
  }

  list(name: string): readonly unknown[] {
    const value = this.members[name];
    if (Array.isArray(value)) return value;
    this.problem(name, value === undefined ? 'is missing' : 'must be a list');
    return [];
  }

  status(): 'active' | 'disabled' {
    const value = this.members.status ?? 'active';
    if (value === 'active' || value === 'disabled') return value;
    this.problem('status', 'must be active or disabled');
    return 'active';
  }

  /** Reads a member with a custom reader; its problems are reported with the others. */
  inner<T>(name: string, read: (reader: Members) => T): T | null {
    const members = this.optionalObject(name);
    if (members === null) return null;
    const reader = new Members((inner) => this.at(inner === '' ? name : `${name}.${inner}`), members);
    const value = read(reader);
    this.problems.collect(() => reader.end());
    return value;
  }

  /** @throws Failure with all problems. */
  end(): void {
    this.problems.throwIfAny();
  }

  /** A member as it is. */
  value(name: string): unknown {
    return this.members[name];
  }

  /** Whether a member is present. */
  has(name: string): boolean {
    return (this.members[name] ?? null) !== null;
  }

  problem(name: string, problem: string): void {
    this.problems.add(invalid(this.at(name), problem));
  }
}

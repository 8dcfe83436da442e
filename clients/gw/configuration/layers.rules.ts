/** An invalid part of a value. */
interface LayerProblem {
  readonly path: string;
  readonly problem: string;
}

type Table = Readonly<Record<string, unknown>>;

/** Whether a value has members. */
export const isTable = (value: unknown): value is Table =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A value with a patch over it (RFC 7396): tables merge, null removes a member, everything else replaces. */
export function merged(value: unknown, patch: unknown): unknown {
  if (!isTable(patch)) return patch;
  const base = isTable(value) ? value : {};
  const kept = Object.entries(base).filter(([name]) => !Object.hasOwn(patch, name));
  const changed = Object.entries(patch).flatMap(([name, member]) =>
    member === null ? [] : [[name, merged(Object.hasOwn(base, name) ? base[name] : undefined, member)] as const],
  );
  return Object.fromEntries([...kept, ...changed]);
}

/** Whether a patch affects a part. @param path as `config.limits`. */
export function reaches(patch: unknown, path: string): boolean {
  let part = patch;
  for (const name of path.split('.')) {
    if (!isTable(part) || !Object.hasOwn(part, name)) return part !== patch && !isTable(part);
    part = part[name];
  }
  return true;
}

/** The syntax of a variable: `${name}`; `$${` is the text `${`. */
const VARIABLE = /\$\$\{|\$\{([A-Za-z]\w*)\}|\$\{/g;
const WHOLE = /^\$\{([A-Za-z]\w*)\}$/;

/** Values of variables, and those in use. */
export class Variables {
  readonly problems: LayerProblem[] = [];
  private readonly used = new Set<string>();

  constructor(private readonly values: Table) {}

  /** A value with its variables replaced. A text that is only a variable gets its value unchanged. */
  in(value: unknown, path = ''): unknown {
    if (typeof value === 'string') return this.inText(value, path);
    if (Array.isArray(value)) return value.map((item, index) => this.in(item, `${path}.${index}`));
    if (!isTable(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => {
        const inner = path === '' ? name : `${path}.${name}`;
        if (name.includes('${')) this.problems.push({ path: inner, problem: 'a name cannot hold a variable' });
        return [name, this.in(member, inner)];
      }),
    );
  }

  /** Names of unused variables. */
  get unused(): readonly string[] {
    return Object.keys(this.values).filter((name) => !this.used.has(name));
  }

  private inText(text: string, path: string): unknown {
    const whole = WHOLE.exec(text)?.[1];
    if (whole !== undefined) return this.valueOf(whole, path);
    return text.replaceAll(VARIABLE, (found, name: string | undefined) => {
      if (found === '$${') return '${';
      if (name === undefined) {
        this.problems.push({ path, problem: `write a variable as \${name}, and $\${ for the text itself` });
        return found;
      }
      const value = this.valueOf(name, path);
      if (typeof value === 'object' && value !== null) {
        this.problems.push({
          path,
          problem: `the variable ${name} is not a single value, so it must be the whole text`,
        });
      }
      return String(value);
    });
  }

  private valueOf(name: string, path: string): unknown {
    this.used.add(name);
    if (Object.hasOwn(this.values, name)) return this.values[name];
    this.problems.push({ path, problem: `the variable ${name} has no value in this environment` });
    return '';
  }
}

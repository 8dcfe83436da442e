import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';

interface Rule {
  readonly name: string;
  readonly to: { readonly pathNot?: string };
}

const ROOM_RULE = 'arrows-of-';
const FOR_EVERYONE = ['common', 'platform'];
const DOCUMENT = readFileSync(new URL('../../docs/architecture.md', import.meta.url), 'utf8');
const TABLE_ROW = /^\| `([a-z-]+)` \| (—|`.+`) \|$/gm;
const DIAGRAM_ARROW = /^ +([a-z-]+) --> ([a-z-]+)$/gm;

/** What `npm run check` enforces: each room's list, read back from its rule. */
async function enforcedArrows(): Promise<Record<string, string[]>> {
  const url = new URL('../../tools/dependency-rules.mjs', import.meta.url);
  const { default: config }: { default: { forbidden: readonly Rule[] } } = await import(url.href);
  const rules = config.forbidden.filter(({ name }) => name.startsWith(ROOM_RULE));
  return Object.fromEntries(
    rules.map(({ name, to }) => {
      const room = name.slice(ROOM_RULE.length);
      const allowed = /^\^src\/\((.+)\)\/$/.exec(to.pathNot ?? '')?.[1]?.split('|') ?? [];
      return [room, allowed.filter((other) => other !== room && !FOR_EVERYONE.includes(other))];
    }),
  );
}

function documentedArrows(): Record<string, string[]> {
  const section = DOCUMENT.slice(DOCUMENT.indexOf('### Arrows'));
  const rows = [...section.matchAll(TABLE_ROW)];
  return Object.fromEntries(
    rows.map(([, room = '', list = '']) => [room, [...list.matchAll(/`([a-z-]+)`/g)].map(([, other = '']) => other)]),
  );
}

/** Every room that can be reached from each room, sorted. */
function reachable(arrows: Record<string, readonly string[]>): Record<string, string[]> {
  const from = (room: string, seen: Set<string>): Set<string> => {
    for (const next of arrows[room] ?? []) if (!seen.has(next)) from(next, seen.add(next));
    return seen;
  };
  return Object.fromEntries(Object.keys(arrows).map((room) => [room, [...from(room, new Set())].sort()]));
}

describe('docs/architecture.md', () => {
  it('arrow table → exactly the enforced arrows', async () => {
    const enforced = await enforcedArrows();
    expect(Object.keys(enforced).length).toBeGreaterThan(5);
    expect(documentedArrows()).toEqual(enforced);
  });

  it('diagram → the same rooms reach the same rooms, without redundant arrows', async () => {
    const enforced = await enforcedArrows();
    const drawn: Record<string, string[]> = Object.fromEntries(Object.keys(enforced).map((room) => [room, []]));
    for (const [, from = '', to = ''] of DOCUMENT.matchAll(DIAGRAM_ARROW)) drawn[from] = [...(drawn[from] ?? []), to];
    expect(reachable(drawn)).toEqual(reachable(enforced));
    for (const [room, targets] of Object.entries(drawn)) {
      for (const target of targets) {
        const without = { ...drawn, [room]: targets.filter((other) => other !== target) };
        expect(reachable(without)[room]).not.toContain(target);
      }
    }
  });

  it('rooms → every room is described', async () => {
    const described = [...DOCUMENT.slice(0, DOCUMENT.indexOf('### Arrows')).matchAll(/^\| `([a-z-]+)` \| [^`]/gm)];
    expect(described.map(([, room]) => room).sort()).toEqual(
      [...Object.keys(await enforcedArrows()), ...FOR_EVERYONE].sort(),
    );
  });
});

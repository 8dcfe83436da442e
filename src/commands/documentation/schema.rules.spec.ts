import { describe, expect, it } from '@jest/globals';
import { renderSchema, type SchemaColumn, type SchemaObject, type SchemaTable } from './schema.rules.js';
import type { TableArea } from './tables.js';

function column(name: string, more: Partial<SchemaColumn> = {}): SchemaColumn {
  return { name, type: 'text', isNullable: false, isIdentity: false, isGenerated: false, value: null, ...more };
}

function object(name: string, kind: SchemaObject['kind'], more: Partial<SchemaObject> = {}): SchemaObject {
  return { name, kind, definition: name.toUpperCase(), columns: null, references: null, ...more };
}

function table(name: string, more: Partial<SchemaTable> = {}): SchemaTable {
  return { name, columns: [column('id')], objects: [], ...more };
}

function areasOf(...names: string[]): TableArea[] {
  const tables = Object.fromEntries(names.map((name) => [name, { owner: `src/${name}`, purpose: `Keeps ${name}.` }]));
  return [{ title: 'All', tables }];
}

function render(only: Partial<SchemaTable>): string {
  return renderSchema([table('a', only)], areasOf('a'));
}

describe('renderSchema', () => {
  it('table without a purpose, purpose without a table → refused, naming both', () => {
    const tables = [table('known'), table('undescribed')];
    expect(() => renderSchema(tables, areasOf('known'))).toThrow('lacks [undescribed]');
    expect(() => renderSchema([], areasOf('dropped'))).toThrow('names [dropped]');
  });

  it('tables → in the order of the areas, with purpose and owner', () => {
    const text = renderSchema([table('a'), table('b')], areasOf('b', 'a'));
    expect(text).toContain('### b\n\nKeeps b. Owner: `src/b`.\n\n| Column |');
    expect(text.indexOf('### b')).toBeLessThan(text.indexOf('### a'));
  });

  it.each([
    ['nothing', {}, '| `x` | text | no |  |'],
    ['null allowed', { isNullable: true }, '| `x` | text | yes |  |'],
    ['a default', { value: '0' }, '| `x` | text | no | `0` |'],
    ['an identity', { isIdentity: true }, '| `x` | text | no | identity |'],
    ['generated', { isGenerated: true, value: "a || 'b'" }, "| `x` | text | no | generated: `a \\|\\| 'b'` |"],
    [
      'a long expression',
      { isGenerated: true, value: 'a'.repeat(81) },
      '| `x` | text | no | generated: by the expression in the migration |',
    ],
  ])('column with %s → %p', (_name, more, row) => {
    expect(render({ columns: [column('x', more)] })).toContain(`\n${row}\n`);
  });

  it('constraints and indexes → primary key, unique, foreign key, check, index', () => {
    const definition = 'CREATE UNIQUE INDEX i ON ONLY public.a USING btree (lower(x)) WHERE (x > 0)';
    const objects = [object('i', 'index', { definition }), object('c', 'c'), object('u', 'u'), object('p', 'p')];
    expect(render({ objects })).toContain(
      '| `p` | `P` |\n| `u` | `U` |\n| `c` | `C` |\n| `i` | `UNIQUE INDEX (lower(x)) WHERE (x > 0)` |\n',
    );
  });

  it('index of another method → the method is named', () => {
    const objects = [object('i', 'index', { definition: 'CREATE INDEX i ON public.a USING gin (x)' })];
    expect(render({ objects })).toContain('| `i` | `INDEX gin (x)` |');
  });

  it.each([
    ['required', {}, [], 'a ||--o{ b : "x"'],
    ['optional', { isNullable: true }, [], 'a |o--o{ b : "x"'],
    ['unique', {}, [object('p', 'p', { columns: ['x'] })], 'a ||--o| b : "x"'],
    ['part of a key', {}, [object('p', 'p', { columns: ['x', 'y'] })], 'a ||--o{ b : "x"'],
  ])('foreign key, %s → its cardinality in the diagram', (_name, more, keys, line) => {
    const reference = object('f', 'f', { columns: ['x'], references: 'a' });
    const b = table('b', { columns: [column('x', more)], objects: [reference, ...keys] });
    expect(renderSchema([table('a'), b], areasOf('a', 'b'))).toContain(`erDiagram\n  ${line}\n`);
  });
});

import { tableRow } from './markdown.rules.js';
import type { TableArea } from './tables.js';

export interface SchemaColumn {
  readonly name: string;
  readonly type: string;
  readonly isNullable: boolean;
  readonly isIdentity: boolean;
  /** True when `value` is a generated expression, false when it is the default. */
  readonly isGenerated: boolean;
  /** An expression; null without one. */
  readonly value: string | null;
}

/** A constraint (primary key, unique, foreign key, check) or an index that belongs to no constraint. */
export interface SchemaObject {
  readonly name: string;
  readonly kind: 'p' | 'u' | 'f' | 'c' | 'index';
  /** As Postgres writes it. */
  readonly definition: string;
  /** The columns of a constraint; null for an index. */
  readonly columns: readonly string[] | null;
  /** The referenced table of a foreign key. */
  readonly references: string | null;
}

export interface SchemaTable {
  readonly name: string;
  readonly columns: readonly SchemaColumn[];
  readonly objects: readonly SchemaObject[];
}

const KINDS: readonly SchemaObject['kind'][] = ['p', 'u', 'f', 'c', 'index'];

/** A longer expression does not fit into a table. */
const MAX_EXPRESSION_CHARACTERS = 80;

/**
 * Renders `docs/schema.md`.
 *
 * @throws Error when the areas do not name exactly the tables of the database.
 */
export function renderSchema(tables: readonly SchemaTable[], areas: readonly TableArea[]): string {
  requireSameNames(tables, areas);
  const sections = areas.flatMap((area) => [`## ${area.title}`, ...sectionsOf(area, tables)]);
  return `# Database schema

The tables after all migrations. Times are UTC, \`*_nano_usd\` is money in nano-dollars. \`migrations/\` has the triggers,
the functions and the reasons.

Written by \`npm run docs\` from a migrated database and \`src/commands/documentation/tables.ts\`; edit the code instead.

## Foreign keys

Tables that are not shown have none: usage, limits and audit events outlive what they name.

\`\`\`mermaid
${['erDiagram', ...tables.flatMap(relationsOf).map((line) => `  ${line}`)].join('\n')}
\`\`\`

${sections.join('\n\n')}
`;
}

function requireSameNames(tables: readonly SchemaTable[], areas: readonly TableArea[]): void {
  const found = tables.map(({ name }) => name);
  const described = areas.flatMap((area) => Object.keys(area.tables));
  const missing = found.filter((name) => !described.includes(name));
  const unknown = described.filter((name) => !found.includes(name));
  if (missing.length + unknown.length === 0) return;
  throw new Error(
    `src/commands/documentation/tables.ts lacks [${missing.join(', ')}], and names [${unknown.join(', ')}], which the database has not.`,
  );
}

/** A diagram line for each foreign key. */
function relationsOf(table: SchemaTable): string[] {
  return table.objects
    .filter(({ kind }) => kind === 'f')
    .map(({ references, columns }) => {
      const names = columns ?? [];
      const isOptional = table.columns.some(({ name, isNullable }) => isNullable && names.includes(name));
      const isSingle = table.objects.some(
        (key) => (key.kind === 'p' || key.kind === 'u') && key.columns?.join() === names.join(),
      );
      return `${references} ${isOptional ? '|o' : '||'}--${isSingle ? 'o|' : 'o{'} ${table.name} : "${names.join(', ')}"`;
    });
}

function sectionsOf(area: TableArea, tables: readonly SchemaTable[]): string[] {
  return Object.entries(area.tables).flatMap(([name, { owner, purpose }]) => {
    const found = tables.filter((table) => table.name === name);
    return found.flatMap((table) => [`### ${name}`, `${purpose} Owner: \`${owner}\`.`, ...tablesOf(table)]);
  });
}

function tablesOf({ columns, objects }: SchemaTable): string[] {
  const sorted = objects.toSorted((a, b) => KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind));
  const objectCells = (object: SchemaObject) => [`\`${object.name}\``, `\`${definitionOf(object)}\``];
  return [
    markdownTable(['Column', 'Type', 'Null', 'Default'], columns.map(columnCells)),
    markdownTable(['Constraint or index', 'Definition'], sorted.map(objectCells)),
  ];
}

function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map(tableRow).join('\n');
}

function columnCells(column: SchemaColumn): string[] {
  return [`\`${column.name}\``, column.type, column.isNullable ? 'yes' : 'no', defaultOf(column)];
}

function defaultOf({ isIdentity, isGenerated, value }: SchemaColumn): string {
  if (isIdentity) return 'identity';
  if (value === null) return '';
  const text = value.length > MAX_EXPRESSION_CHARACTERS ? 'by the expression in the migration' : `\`${value}\``;
  return isGenerated ? `generated: ${text}` : text;
}

/** Omits what the document's table shows already: `CREATE`, the name, the table, and `btree`, the usual method. */
function definitionOf({ kind, definition }: SchemaObject): string {
  return kind === 'index'
    ? definition.replace(/^CREATE (UNIQUE )?INDEX .+? USING (?:btree )?/s, '$1INDEX ')
    : definition;
}

/** The output of the bench: tables, and a verdict for each target. */

const COLUMN_GAP = '  ';

/** Prints rows under their column names: text left, numbers right. */
export function printTable(title, columns, rows) {
  const widths = columns.map((column, i) => Math.max(column.length, ...rows.map((row) => String(row[i]).length)));
  const line = (cells) =>
    cells
      .map((cell, i) => (i === 0 ? String(cell).padEnd(widths[i]) : String(cell).padStart(widths[i])))
      .join(COLUMN_GAP);
  console.log(`\n${title}`);
  console.log(line(columns));
  console.log(widths.map((width) => '-'.repeat(width)).join(COLUMN_GAP));
  for (const row of rows) console.log(line(row));
}

/** A number with `digits` decimals, or a dash when it was not measured. */
export function number(value, digits = 0) {
  return Number.isFinite(value) ? value.toFixed(digits) : '-';
}

/** Collects whether targets are met; a target whose parties did not run is left out. */
export class Verdicts {
  #lines = [];

  /** `measured` must be at least `bound`. */
  atLeast(promise, measured, bound, digits = 2) {
    this.#add(promise, measured, bound, measured >= bound, digits);
  }

  /** `measured` must be at most `bound`. */
  atMost(promise, measured, bound, digits = 2) {
    this.#add(promise, measured, bound, measured <= bound, digits);
  }

  print() {
    if (this.#lines.length === 0) return;
    printTable('Targets', ['promise', 'bound', 'measured', ''], this.#lines);
  }

  #add(promise, measured, bound, isMet, digits) {
    if (!Number.isFinite(measured)) return;
    this.#lines.push([promise, number(bound, digits), number(measured, digits), isMet ? 'met' : 'MISSED']);
  }
}

const OF_MONTH = /^usage_events_(\d{4})_(\d{2})$/;

/**
 * Those of the tables below `usage_events` that hold nothing but events of before a day. `usage_events_2026_11` holds the
 * UTC month 2026-11; tables of other names hold whatever there is.
 *
 * @param before UTC day, `YYYY-MM-DD`.
 */
export function oldPartitions(tables: readonly string[], before: string): string[] {
  return tables.filter((table) => {
    const [, year, month] = OF_MONTH.exec(table) ?? [];
    return year !== undefined && month !== undefined && firstDayAfter(Number(year), Number(month)) <= before;
  });
}

function firstDayAfter(year: number, month: number): string {
  const [nextYear, nextMonth] = month === 12 ? [year + 1, 1] : [year, month + 1];
  return `${String(nextYear).padStart(4, '0')}-${String(nextMonth).padStart(2, '0')}-01`;
}

import { useMemo } from 'react';
import { useLocation } from 'wouter';
// The router has already decoded the search once: texts with a percent sign would be decoded twice.
import { useSearch } from 'wouter/use-browser-location';
import { MEASURES } from './measures';
import { type Measure, type Period, periodOf } from './periods.rules';

/** The state of a usage page is in its address, so that a link can be shared. */
export interface UsageAddress {
  readonly search: URLSearchParams;
  readonly period: Period;
  readonly measure: Measure;
  /** Changes parameters; an empty one is removed. */
  set(changes: Readonly<Record<string, string>>): void;
  /** The address with other parameters, to link to. */
  to(changes: Readonly<Record<string, string>>): string;
}

/** The parameters of the service for the period of an application or of the account. */
export function askedOf(app: string | undefined, { period: { from, to } }: Pick<UsageAddress, 'period'>) {
  return { from, to, ...(app === undefined ? {} : { app }) };
}

export function useUsageAddress(): UsageAddress {
  const [path, navigate] = useLocation();
  const text = useSearch();
  return useMemo(() => {
    const current = new URLSearchParams(text);
    const measure = MEASURES.find(({ value }) => value === current.get('measure'))?.value ?? 'cost';
    return {
      search: current,
      period: periodOf(current, Date.now()),
      measure,
      set: (changes) =>
        navigate(`${path}?${changed(new URLSearchParams(location.search), changes)}`, { replace: true }),
      to: (changes) => `?${changed(current, changes)}`,
    };
  }, [text, path, navigate]);
}

function changed(before: URLSearchParams, changes: Readonly<Record<string, string>>): URLSearchParams {
  const after = new URLSearchParams(before);
  for (const [name, value] of Object.entries(changes)) {
    if (value === '') after.delete(name);
    else after.set(name, value);
  }
  return after;
}

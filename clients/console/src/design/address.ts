import { useCallback } from 'react';
import { useLocation } from 'wouter';
// The router has already decoded the search once: texts with a percent sign would be decoded twice.
import { useSearch } from 'wouter/use-browser-location';

/** The members of an address, each with its default: a text, or the first of several values. */
type Members = Readonly<Record<string, string | readonly [string, ...string[]]>>;

type Values<M extends Members> = {
  readonly [K in keyof M]: M[K] extends readonly (infer V extends string)[] ? V : string;
};

/**
 * Filters, sorting and places of a list, kept in the address: a reload, a link and Back bring the same list. An unknown
 * value in an address counts as absent.
 *
 * @param members stay the same.
 */
export function useAddress<M extends Members>(members: M): readonly [Values<M>, (change: Partial<Values<M>>) => void] {
  const [path, navigate] = useLocation();
  const search = useSearch();
  const sent = new URLSearchParams(search);
  const values = Object.fromEntries(
    Object.entries(members).map(([name, usual]) => {
      const value = sent.get(name);
      const isKnown = typeof usual === 'string' || usual.some((known) => known === value);
      return [name, value !== null && isKnown ? value : usualOf(usual)];
    }),
  ) as Values<M>;
  const change = useCallback(
    (changed: Partial<Values<M>>) => {
      const next = new URLSearchParams(location.search);
      for (const [name, value] of Object.entries<string | undefined>(changed)) {
        const usual = members[name];
        if (value === undefined || usual === undefined || value === usualOf(usual)) next.delete(name);
        else next.set(name, value);
      }
      const text = next.toString();
      navigate(text === '' ? path : `${path}?${text}`, { replace: true });
    },
    [members, path, navigate],
  );
  return [values, change];
}

function usualOf(usual: Members[string]): string {
  return typeof usual === 'string' ? usual : usual[0];
}

/** The values of the options of a field. */
export function valuesOf<const O extends readonly [{ readonly value: string }, ...{ readonly value: string }[]]>(
  options: O,
): { readonly [I in keyof O]: O[I]['value'] } {
  return options.map(({ value }) => value) as { readonly [I in keyof O]: O[I]['value'] };
}

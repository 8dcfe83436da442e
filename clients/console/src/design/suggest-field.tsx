import { type ComponentProps, useId } from 'react';
import { TextField } from './field';

export interface Suggestion {
  readonly value: string;
  /** What it is, beside it. */
  readonly note?: string | undefined;
}

/** A text, chosen from what is known; what the list lacks can be typed. */
export function SuggestField({
  known,
  ...field
}: ComponentProps<typeof TextField> & { readonly known: readonly Suggestion[] }) {
  const list = useId();
  return (
    <>
      <TextField autoComplete="off" spellCheck={false} {...field} list={list} />
      <datalist id={list}>
        {known.map(({ value, note }) => (
          <option key={value} value={value}>
            {note}
          </option>
        ))}
      </datalist>
    </>
  );
}

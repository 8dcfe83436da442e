import { type ComponentProps, useId } from 'react';
import { TextField } from './field';

export interface Suggestion {
  readonly value: string;
  /** Its description, next to it. */
  readonly note?: string | undefined;
}

/** A text, chosen from known values or typed. */
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

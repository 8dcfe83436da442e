import { type ReactNode, useState } from 'react';
import { TextField } from './field';
import { numberOf, numberProblem, textOf } from './number-text.rules';

/** A field for a number that may be absent. Half-typed text such as `0.` is kept. */
export function NumberField({
  label,
  hint,
  value,
  onChange,
  error,
  reason,
  isRequired = false,
}: {
  readonly label: string;
  readonly hint?: ReactNode;
  readonly value: number | undefined;
  readonly onChange: (value: number | undefined) => void;
  readonly error: string | undefined;
  readonly reason: string | undefined;
  /** An empty field is an error, and the value does not change. */
  readonly isRequired?: boolean;
}) {
  const [typed, setTyped] = useState({ text: textOf(value), value });
  // A value that was not typed here, such as that of a discarded draft, replaces the text.
  const text = typed.value === value ? typed.text : textOf(value);
  const isEmpty = text.trim() === '';
  const problem = isEmpty ? (isRequired ? 'is required' : undefined) : numberProblem(text);
  return (
    <TextField
      label={label}
      hint={hint}
      inputMode="decimal"
      data-unreadable={problem === undefined ? undefined : true}
      reason={reason}
      value={text}
      onChange={(next) => {
        const number = numberOf(next);
        const isCleared = next.trim() === '' && !isRequired;
        const changed = number !== undefined || isCleared ? number : value;
        setTyped({ text: next, value: changed });
        if (changed !== value) onChange(changed);
      }}
      error={problem ?? error}
    />
  );
}

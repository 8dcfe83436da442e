import { useState } from 'react';
import { TextArea } from '../design/field';
import { useReadOnlyReason } from '../shell/session';

/** A list of texts, one a line. */
export function ListField({
  label,
  hint,
  entries,
  onChange,
  error,
}: {
  readonly label: string;
  readonly hint: string;
  readonly entries: readonly string[];
  readonly onChange: (entries: string[]) => void;
  readonly error: string | undefined;
}) {
  const reason = useReadOnlyReason();
  const [text, setText] = useState(() => entries.join('\n'));
  const isTyped = linesOf(text).join('\n') === entries.join('\n');
  return (
    <TextArea
      label={label}
      hint={hint}
      rows={Math.max(2, entries.length + 1)}
      value={isTyped ? text : entries.join('\n')}
      onChange={(typed) => {
        setText(typed);
        onChange(linesOf(typed));
      }}
      error={error}
      reason={reason}
    />
  );
}

function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

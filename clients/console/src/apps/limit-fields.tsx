import { useState } from 'react';
import { problemAt } from '../api/api-error';
import type { Schemas } from '../api/client';
import { TextField } from '../design/field';
import { NumberField } from '../design/number-field';
import { useReadOnlyReason } from '../shell/session';
import { useAppDraft } from './app-draft';

type ScopeLimits = Schemas['AppScopeLimits'];

const COUNTS = [
  { limit: 'requests', member: 'per_minute', label: 'Requests per minute' },
  { limit: 'requests', member: 'per_day', label: 'Requests per day (UTC)' },
  { limit: 'tokens', member: 'per_minute', label: 'Tokens per minute' },
  { limit: 'tokens', member: 'per_day', label: 'Tokens per day (UTC)' },
] as const;

/** Each applies independently. */
const BUDGETS = [
  { member: 'daily_usd', label: 'USD per day (UTC)' },
  { member: 'weekly_usd', label: 'USD per week (from Monday, UTC)' },
  { member: 'monthly_usd', label: 'USD per month (UTC)' },
  { member: 'total_usd', label: 'USD in total' },
] as const;

/** The limits of one scope. @param path where the server names it in errors. */
export function LimitFields({
  limits,
  onChange,
  path,
  hasTotal,
}: {
  readonly limits: ScopeLimits;
  readonly onChange: (limits: ScopeLimits) => void;
  readonly path: string;
  readonly hasTotal: boolean;
}) {
  const { error } = useAppDraft();
  const reason = useReadOnlyReason();
  return (
    <div className="grid gap-4 sm:grid-cols-2 xl:grid-cols-4">
      {COUNTS.map(({ limit, member, label }) => (
        <NumberField
          key={label}
          label={label}
          reason={reason}
          value={limits[limit]?.[member] ?? undefined}
          onChange={(value) => onChange({ ...limits, [limit]: { ...limits[limit], [member]: value ?? null } })}
          error={problemAt(error, `${path}.${limit}.${member}`)}
        />
      ))}
      {BUDGETS.filter(({ member }) => hasTotal || member !== 'total_usd').map(({ member, label }) => (
        <NumberField
          key={member}
          label={label}
          reason={reason}
          value={limits.spending?.[member] ?? undefined}
          hint={warningAt(limits.spending?.[member])}
          onChange={(value) => onChange({ ...limits, spending: { ...limits.spending, [member]: value ?? null } })}
          error={problemAt(error, `${path}.spending.${member}`)}
        />
      ))}
      <ThresholdsField
        thresholds={limits.spending?.thresholds}
        onChange={(thresholds) => {
          const { thresholds: _before, ...spending } = limits.spending ?? {};
          onChange({ ...limits, spending: thresholds === undefined ? spending : { ...spending, thresholds } });
        }}
        error={problemAt(error, `${path}.spending.thresholds`)}
        reason={reason}
      />
    </div>
  );
}

/** The effect of a budget of zero. */
function warningAt(budget: number | null | undefined) {
  return budget === 0 ? (
    <span className="font-medium text-warn">0 refuses every call. Empty: no budget.</span>
  ) : undefined;
}

/** Percents in the field, shares in the configuration. */
function ThresholdsField({
  thresholds,
  onChange,
  error,
  reason,
}: {
  readonly thresholds: readonly number[] | undefined;
  readonly onChange: (thresholds: number[] | undefined) => void;
  readonly error: string | undefined;
  readonly reason: string | undefined;
}) {
  const shown = (thresholds ?? []).map((share) => String(Number((share * 100).toFixed(4)))).join(', ');
  const [typed, setTyped] = useState({ text: shown, thresholds });
  // A value that was not typed here, such as that of a discarded draft, replaces the text.
  const text = typed.thresholds === thresholds ? typed.text : shown;
  const isUnreadable = partsOf(text).some((part) => Number.isNaN(Number(part)));
  return (
    <TextField
      label="Report at (percent of each budget)"
      hint="Empty: 50, 80, 100. Webhooks and mails report them."
      data-unreadable={isUnreadable ? true : undefined}
      reason={reason}
      value={text}
      onChange={(next) => {
        const parts = partsOf(next).map(Number);
        const isReadable = !parts.some(Number.isNaN);
        const shares = parts.length === 0 ? undefined : parts.map((part) => Number((part / 100).toFixed(6)));
        setTyped({ text: next, thresholds: isReadable ? shares : thresholds });
        if (isReadable) onChange(shares);
      }}
      error={isUnreadable ? 'must be numbers, such as 50, 80, 100' : error}
    />
  );
}

function partsOf(text: string): string[] {
  return text
    .split(/[\s,;]+/)
    .map((part) => part.replace(/%$/, ''))
    .filter((part) => part !== '');
}

const zoned = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
const exact = new Intl.DateTimeFormat(undefined, {
  ...{ year: 'numeric', month: 'short', day: 'numeric' },
  ...{ hour: 'numeric', minute: '2-digit', second: '2-digit', timeZoneName: 'short' },
});
const dayOnly = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });

const STEPS = [
  { unit: 'second', ms: 1_000, below: 60_000 },
  { unit: 'minute', ms: 60_000, below: 3_600_000 },
  { unit: 'hour', ms: 3_600_000, below: 86_400_000 },
  { unit: 'day', ms: 86_400_000, below: 30 * 86_400_000 },
] as const;

function utcText(at: Date): string {
  return `${at.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

/** An instant in the reader's time zone; in UTC on hover and for machines. */
export function Time({
  at,
  isRelative = false,
  isExact = false,
}: {
  readonly at: string;
  readonly isRelative?: boolean;
  /** With seconds and the name of the time zone. */
  readonly isExact?: boolean;
}) {
  const instant = new Date(at);
  return (
    <time dateTime={instant.toISOString()} title={utcText(instant)} className="whitespace-nowrap">
      {isRelative ? ago(instant) : (isExact ? exact : zoned).format(instant)}
    </time>
  );
}

export function Day({ at }: { readonly at: string }) {
  const instant = new Date(at);
  return (
    <time dateTime={instant.toISOString()} title={utcText(instant)} className="whitespace-nowrap">
      {dayOnly.format(instant)}
    </time>
  );
}

function ago(at: Date): string {
  const ms = at.getTime() - Date.now();
  const step = STEPS.find(({ below }) => Math.abs(ms) < below);
  return step === undefined ? dayOnly.format(at) : relative.format(Math.round(ms / step.ms), step.unit);
}

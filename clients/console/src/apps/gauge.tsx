import { shareText } from '../design/amounts.rules';

/** How much of a limit is used. */
export function Gauge({
  label,
  used,
  limit,
  text,
}: {
  readonly label: string;
  readonly used: number;
  readonly limit: number;
  readonly text: (value: number) => string;
}) {
  const share = limit === 0 ? 1 : Math.min(used / limit, 1);
  const tone = share >= 1 ? 'fill-bad' : share >= 0.8 ? 'fill-warn' : 'fill-good';
  return (
    <div className="mt-5 first:mt-0">
      <div className="mb-1 flex justify-between gap-3 text-sm">
        <span className="text-muted">{label}</span>
        <span className="tabular-nums">
          {text(used)} of {text(limit)} ({shareText(used, limit)})
        </span>
      </div>
      <meter className="sr-only" min={0} max={limit} value={Math.min(used, limit)} aria-label={label}>
        {text(used)}
      </meter>
      <svg
        viewBox="0 0 100 4"
        preserveAspectRatio="none"
        className="h-2 w-full overflow-hidden rounded-full bg-line"
        aria-hidden
      >
        <title>{label}</title>
        <rect width={share * 100} height="4" className={tone} />
      </svg>
    </div>
  );
}

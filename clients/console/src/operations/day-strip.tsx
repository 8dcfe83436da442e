import { dayText, type SlotLook, slotLook } from './day-strip.rules';

const FILLS: Readonly<Record<SlotLook, string>> = {
  unknown: 'fill-edge opacity-40',
  good: 'fill-good',
  some: 'fill-warn',
  bad: 'fill-bad',
};
const SLOT_WIDTH = 10;
const HEIGHT = 120;

/** The last day of a part, one bar per slot: height and colour show the same. */
export function DayStrip({
  since,
  slotSeconds,
  failing,
}: {
  readonly since: string;
  readonly slotSeconds: number;
  readonly failing: readonly (number | null)[];
}) {
  const text = dayText(Date.parse(since), slotSeconds, failing);
  return (
    <div className="mt-auto">
      <svg
        className="h-6 w-full"
        viewBox={`0 0 ${failing.length * SLOT_WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        aria-hidden="true"
      >
        {failing.map((share, slot) => {
          const look = slotLook(share);
          const height = look === 'bad' || look === 'some' ? HEIGHT : HEIGHT / 2;
          return (
            <rect
              key={String(slot)}
              className={FILLS[look]}
              x={slot * SLOT_WIDTH}
              y={HEIGHT - height}
              width={SLOT_WIDTH - 3}
              height={height}
            />
          );
        })}
      </svg>
      <p className="mt-1 text-xs text-muted">{text}</p>
    </div>
  );
}

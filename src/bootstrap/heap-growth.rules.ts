/**
 * Size at which the young generation stops growing, in bytes. V8 keeps twice as much. More is not faster; less collects
 * a saturated core's calls before they end.
 */
const LARGEST_YOUNG_BYTES = 16 * 1024 * 1024;
/** Utilization of the event loop below which a process is idle: its timers alone use about 1 %. */
const IDLE = 0.05;
/** Utilization from which calls wait for each other. */
const SATURATED = 0.9;
/** How far the old generation grows between two full collections. After an idle phase V8 itself chooses 30 %. */
const GROWTH_PERCENT = 60;
/** The same for an idle process, because V8 lowers the limit of one at each small collection, and the next load would pay. */
const IDLE_GROWTH_PERCENT = 100;
/** The same at saturation, where full collections delay most calls. */
const SATURATED_GROWTH_PERCENT = 100;

/** The heap at a check, and the load since the check before. */
export interface HeapLoad {
  /** Capacity of the young generation, in bytes. */
  readonly youngBytes: number;
  /** Of the event loop, 0 to 1. */
  readonly utilization: number;
}

export function isIdle({ utilization }: HeapLoad): boolean {
  return utilization < IDLE;
}

/**
 * The flags of V8 that let both generations grow as the load needs. The young generation grows to its largest size in
 * one step, because V8 shrinks it when the process is idle, and a load that returns promotes calls until it has grown.
 * An idle process does not grow. Source: ADR 0063.
 */
export function growthFlags(heap: HeapLoad): string {
  const factor = isIdle(heap) ? 1 : Math.max(1, Math.floor(LARGEST_YOUNG_BYTES / heap.youngBytes));
  return `--semi-space-growth-factor=${factor} --heap-growing-percent=${growthPercent(heap)}`;
}

function growthPercent(heap: HeapLoad): number {
  if (isIdle(heap)) return IDLE_GROWTH_PERCENT;
  return heap.utilization >= SATURATED ? SATURATED_GROWTH_PERCENT : GROWTH_PERCENT;
}

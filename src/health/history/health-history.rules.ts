import type { ReadinessResponse } from '../dto/health.response.js';

/** The parts of readiness whose history is kept, with the states in which they work as they should. */
const WORKING = {
  database: ['ok'],
  redis: ['ok', 'unused'],
  vault: ['ok'],
  journal: ['ok'],
  configChanges: ['connected'],
  clock: ['ok'],
  limits: ['ok'],
} as const satisfies { readonly [Part in keyof ReadinessResponse]?: readonly ReadinessResponse[Part][] };

export type HealthPart = keyof typeof WORKING;

export const HEALTH_PARTS = Object.keys(WORKING) as readonly HealthPart[];

/** Length of a slot. */
export const SLOT_MS = 15 * 60_000;
/** Slots of a day, the current one included. */
export const KEPT_SLOTS = 96;

/** Samples of one part in one slot. */
export interface HealthSlot {
  readonly slotAtMs: number;
  readonly part: HealthPart;
  readonly samples: number;
  readonly failing: number;
}

/** The share of failing samples of a part by slot, the oldest first; null where no instance took one. */
export interface PartHistory {
  readonly part: HealthPart;
  readonly failing: readonly (number | null)[];
}

export function slotOf(atMs: number): number {
  return Math.floor(atMs / SLOT_MS) * SLOT_MS;
}

/** Start of the oldest slot that is kept. */
export function firstSlot(nowMs: number): number {
  return slotOf(nowMs) - (KEPT_SLOTS - 1) * SLOT_MS;
}

/** One sample of every part. */
export function samplesOf(readiness: ReadinessResponse, atMs: number): HealthSlot[] {
  const slotAtMs = slotOf(atMs);
  return HEALTH_PARTS.map((part) => {
    const working: readonly string[] = WORKING[part];
    return { slotAtMs, part, samples: 1, failing: working.includes(readiness[part]) ? 0 : 1 };
  });
}

/** Adds samples up by slot and part, in that order, without those that are no longer kept. */
export function sumOf(slots: readonly HealthSlot[], nowMs: number): HealthSlot[] {
  const sums = new Map<string, HealthSlot>();
  for (const slot of slots.filter(({ slotAtMs }) => slotAtMs >= firstSlot(nowMs))) {
    const { slotAtMs, part } = slot;
    const { samples, failing } = sums.get(`${slotAtMs} ${part}`) ?? { samples: 0, failing: 0 };
    const sum = { slotAtMs, part, samples: samples + slot.samples, failing: failing + slot.failing };
    sums.set(`${slotAtMs} ${part}`, sum);
  }
  return [...sums.values()].sort((a, b) => a.slotAtMs - b.slotAtMs || a.part.localeCompare(b.part));
}

/** The last day, every part and slot. */
export function dayOf(slots: readonly HealthSlot[], nowMs: number): PartHistory[] {
  const first = firstSlot(nowMs);
  return HEALTH_PARTS.map((part) => {
    const failing: (number | null)[] = Array.from({ length: KEPT_SLOTS }, () => null);
    for (const slot of slots) {
      const at = (slot.slotAtMs - first) / SLOT_MS;
      if (slot.part === part && at in failing) failing[at] = slot.failing / slot.samples;
    }
    return { part, failing };
  });
}

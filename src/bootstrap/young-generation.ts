import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

/** Size at which the young generation stops growing, in bytes: what a saturated core allocates in about 30 ms. */
const LARGEST_BYTES = 32 * 1024 * 1024;
const CHECK_MS = 1_000;

/**
 * Sets up the young generation for calls, of which nothing survives a few milliseconds: no object is allocated in the old
 * generation, where it would keep alive what it references; and the young one grows under load to
 * {@link LARGEST_BYTES}. V8 itself stops at 64 MiB, twice of which stay resident. It shrinks when the process is idle,
 * hence the interval. Source: ADR 0063.
 */
export function prepareYoungGeneration(): void {
  setFlagsFromString('--no-allocation-site-pretenuring');
  let factor: number | undefined;
  const adjust = () => {
    const young = getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space');
    const wanted = (young?.space_size ?? 0) < LARGEST_BYTES ? 2 : 1;
    if (wanted === factor) return;
    factor = wanted;
    setFlagsFromString(`--semi-space-growth-factor=${factor}`);
  };
  adjust();
  setInterval(adjust, CHECK_MS).unref();
}

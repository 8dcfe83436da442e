const SLOTS = 16_384;
const POLYNOMIAL = 0x1021;
/** Exceeds the need of a topology of hundreds of masters; a master with a handful of slots may be missed. */
const MOST_NAMES = 65_536;

/** The cluster slot of a key without a hash tag: CRC-16/XMODEM of its bytes. */
export function slotOf(key: string): number {
  let crc = 0;
  for (const byte of Buffer.from(key)) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? (crc << 1) ^ POLYNOMIAL : crc << 1;
  }
  return (crc & 0xffff) % SLOTS;
}

/**
 * One key on every master.
 *
 * @param masters by slot; holes are unassigned slots.
 * @param prefix of the keys; a number follows.
 */
export function keyOnEachMaster(masters: readonly (string | undefined)[], prefix: string): string[] {
  const wanted = new Set(masters.filter((master) => master !== undefined));
  const keys: string[] = [];
  for (let number = 0; number < MOST_NAMES && wanted.size > 0; number++) {
    const key = `${prefix}${number}`;
    const master = masters[slotOf(key)];
    if (master !== undefined && wanted.delete(master)) keys.push(key);
  }
  return keys;
}

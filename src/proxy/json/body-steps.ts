import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Ready } from '../../common/when-ready.js';
import { JsonMerge } from './json-merge.rules.js';
import type { MergeMembers } from './json-merge-members.rules.js';
import { JsonScan, SCAN_STEP_BYTES } from './json-scan.js';
import { type JudgedNames, REQUEST_NAMES } from './judged-names.js';

/** Work on a body that runs in steps. */
interface Steps {
  /** @returns true when the work is complete. */
  step(maxBytes: number): boolean;
}

/**
 * Scans a request body for the names that policy validates. A body larger than one step takes several event loop turns,
 * so that no request blocks the event loop.
 *
 * @throws invalid_request as `JsonScan`.
 */
export function scanBody(bytes: Buffer, names: JudgedNames = REQUEST_NAMES): Ready<JsonScan> {
  const scan = new JsonScan(bytes, names);
  return scan.step(SCAN_STEP_BYTES) ? scan : toEnd(scan).then(() => scan);
}

/**
 * Merges members over a validated body; a large body takes several event loop turns.
 *
 * @returns the same buffer when nothing changes.
 * @throws invalid_request a member to merge is duplicated in its object.
 */
export function mergeBody(bytes: Buffer, members: MergeMembers): Ready<Buffer> {
  if (members.size === 0) return bytes;
  const merge = new JsonMerge(bytes, members);
  return merge.step(SCAN_STEP_BYTES) ? merge.merged() : toEnd(merge).then(() => merge.merged());
}

async function toEnd(work: Steps): Promise<void> {
  do await nextTurn();
  while (!work.step(SCAN_STEP_BYTES));
}

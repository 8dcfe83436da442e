import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Ready } from '../../common/when-ready.js';
import { JsonMerge } from './json-merge.rules.js';
import type { MergeMembers } from './json-merge-members.rules.js';
import { JsonScan, SCAN_STEP_BYTES } from './json-scan.js';
import { type JudgedNames, REQUEST_NAMES } from './judged-names.js';

/** Work on a body that is done in steps. */
interface Steps {
  /** @returns true once there is nothing more to do. */
  step(maxBytes: number): boolean;
}

/**
 * Reads a request body by the names that policy judges. A body beyond one step is read in several turns, so that no
 * request holds the event loop.
 *
 * @throws invalid_request as `JsonScan` says.
 */
export function scanBody(bytes: Buffer, names: JudgedNames = REQUEST_NAMES): Ready<JsonScan> {
  const scan = new JsonScan(bytes, names);
  return scan.step(SCAN_STEP_BYTES) ? scan : toEnd(scan).then(() => scan);
}

/**
 * Merges members over a body that was found valid; in several turns likewise.
 *
 * @returns the same buffer when nothing changes.
 * @throws invalid_request a member to be merged stands twice in its object.
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

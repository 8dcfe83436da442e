import { spawnSync } from 'node:child_process';

const ROUNDS = { least: 2, most: 5 };

/** Lets a program itself tell what it used, in microseconds: other work of the machine does not count. */
const TELL_CPU = `data:text/javascript,${encodeURIComponent(
  "process.on('exit', () => { const { user, system } = process.cpuUsage(); process.stderr.write('\\n' + (user + system)); })",
)}`;

/**
 * The least CPU that two Node programs used in turn, as a ratio: a slow or busy machine slows both.
 *
 * @param program arguments of Node; it must end with 0.
 * @param reference arguments of Node for the program it is compared with.
 * @param limit a ratio below it needs no further rounds.
 */
export function leastCpuRatio(program: readonly string[], reference: readonly string[], limit: number): number {
  let own = Number.POSITIVE_INFINITY;
  let other = Number.POSITIVE_INFINITY;
  for (let round = 1; round <= ROUNDS.most; round++) {
    own = Math.min(own, cpuOf(program));
    other = Math.min(other, cpuOf(reference));
    if (round >= ROUNDS.least && own / other < limit) break;
  }
  return own / other;
}

function cpuOf(args: readonly string[]): number {
  const { status, stderr } = spawnSync(process.execPath, ['--import', TELL_CPU, ...args], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${args.join(' ')} ended with ${status}: ${stderr}`);
  return Number(stderr.split('\n').at(-1));
}

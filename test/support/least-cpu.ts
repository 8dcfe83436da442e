import { spawnSync } from 'node:child_process';

const ROUNDS = 5;

/** Lets a program itself tell what it used, in microseconds: other work of the machine does not count. */
const TELL_CPU = `data:text/javascript,${encodeURIComponent(
  "process.on('exit', () => { const { user, system } = process.cpuUsage(); process.stderr.write('\\n' + (user + system)); })",
)}`;

/**
 * The least CPU that two Node programs used in turn, as a ratio: a slow or busy machine slows both.
 *
 * @param program arguments of Node; it must end with 0.
 * @param reference arguments of Node for the program it is compared with.
 */
export function leastCpuRatio(program: readonly string[], reference: readonly string[]): number {
  const pairs = Array.from({ length: ROUNDS }, () => [cpuOf(program), cpuOf(reference)] as const);
  return Math.min(...pairs.map(([own]) => own)) / Math.min(...pairs.map(([, other]) => other));
}

function cpuOf(args: readonly string[]): number {
  const { status, stderr } = spawnSync(process.execPath, ['--import', TELL_CPU, ...args], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${args.join(' ')} ended with ${status}: ${stderr}`);
  return Number(stderr.split('\n').at(-1));
}

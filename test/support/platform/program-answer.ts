import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/**
 * Runs a program of this folder on its own, with arguments and options of the engine.
 *
 * @param name file name, without `.mjs`
 * @param env added to the environment of this process.
 * @returns the JSON that it writes; rejects where it fails
 */
export async function programAnswer(
  name: string,
  args: readonly string[] = [],
  options: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<unknown> {
  const program = fileURLToPath(new URL(`${name}.mjs`, import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [...options, program, ...args], {
    env: { ...process.env, ...env },
  });
  return JSON.parse(stdout);
}

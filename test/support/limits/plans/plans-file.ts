import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../../eventually.js';
import type { World } from '../../world.js';

/** Longer than the time after which a service looks at its file again. */
const TAKEN_WITHIN_MS = 15_000;

/** A file of plans for `PLANS_FILE`. */
export class PlansFileOnDisk {
  private readonly directory = mkdtempSync(join(tmpdir(), 'gateway-plans-'));
  readonly path = join(this.directory, 'plans.json');

  /** Puts another version in its place, in one step. @param content objects are written as JSON. */
  write(content: object | string): void {
    const next = join(this.directory, 'next.json');
    writeFileSync(next, typeof content === 'string' ? content : JSON.stringify(content));
    renameSync(next, this.path);
  }

  /** As {@link write}; returns when a world's service has looked at it, and said in this line what it found. */
  async hand(
    { logs }: World,
    content: object | string,
    line: 'plans_file_read' | 'plans_file_unreadable' = 'plans_file_read',
  ): Promise<void> {
    const count = () => logs.filter(({ message }) => message === line).length;
    const before = count();
    this.write(content);
    await eventually(() => count() > before, { withinMs: TAKEN_WITHIN_MS });
  }

  remove(): void {
    rmSync(this.directory, { recursive: true, force: true });
  }
}

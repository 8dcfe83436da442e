import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from './eventually.js';
import type { World } from './world.js';

/** Longer than the time after which a service looks at its file again. */
const TAKEN_WITHIN_MS = 15_000;

/** A file that a service watches. */
export class WatchedFileOnDisk<Line extends string> {
  private readonly directory = mkdtempSync(join(tmpdir(), 'gateway-watched-'));
  readonly path = join(this.directory, 'file.json');

  /** @param readLine what a service says of a version that it takes. */
  constructor(private readonly readLine: Line) {}

  /** Puts another version in its place, in one step. @param content objects are written as JSON. */
  write(content: object | string): void {
    const next = join(this.directory, 'next.json');
    writeFileSync(next, typeof content === 'string' ? content : JSON.stringify(content));
    renameSync(next, this.path);
  }

  /** As {@link write}; returns when a world's service has looked at it, and said in this line what it found. */
  async hand(world: World, content: object | string, line: Line = this.readLine): Promise<void> {
    await this.after(world, line, () => this.write(content));
  }

  /** Removes the file alone; returns when a world's service has said so. */
  async take(world: World, line: Line): Promise<void> {
    await this.after(world, line, () => rmSync(this.path));
  }

  remove(): void {
    rmSync(this.directory, { recursive: true, force: true });
  }

  private async after({ logs }: World, line: Line, change: () => void): Promise<void> {
    const count = () => logs.filter(({ message }) => message === line).length;
    const before = count();
    change();
    await eventually(() => count() > before, { withinMs: TAKEN_WITHIN_MS });
  }
}

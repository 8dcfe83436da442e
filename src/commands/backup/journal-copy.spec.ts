import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { bytesOf, RestoredJournals, segmentsIn } from './journal-copy.js';

const line = (mark: 'A' | 'S', id: string) => `${mark}{"event_id":"${id}"}\n`;
const FIRST = '00000001.log';
const SECOND = '00000002.log';

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'journal-copy-'));
});

afterEach(() => rmSync(directory, { recursive: true, force: true }));

function write(root: string, process: string, name: string, text: string): void {
  mkdirSync(join(root, process), { recursive: true });
  writeFileSync(join(root, process, name), text);
}

function restored(): RestoredJournals {
  return new RestoredJournals(join(directory, 'site'));
}

describe('segments', () => {
  it('of several processes → each, without other files; none where there is no journal', () => {
    write(directory, 'one', SECOND, '');
    write(directory, 'one', FIRST, '');
    write(directory, 'one', 'owner', '{}');
    write(directory, 'two', FIRST, '');
    writeFileSync(join(directory, 'lock'), '');
    expect(segmentsIn(directory)).toEqual([
      { directory: 'one', name: FIRST },
      { directory: 'one', name: SECOND },
      { directory: 'two', name: FIRST },
    ]);
    expect(segmentsIn(join(directory, 'absent'))).toEqual([]);
  });

  it('deleted while they are copied → nothing', async () => {
    const pieces: Buffer[] = [];
    for await (const piece of bytesOf(directory, { directory: 'gone', name: FIRST })) pieces.push(piece);
    expect(pieces).toEqual([]);
  });
});

describe('journals of a restored site', () => {
  it('an old journal that has more → its longer segments and its further ones; an open call that ended there has ended', async () => {
    const journals = restored();
    writeFileSync(journals.fileOf({ directory: 'one', name: FIRST }), line('A', 'a') + line('A', 'b') + line('S', 'a'));
    const old = join(directory, 'old');
    write(old, 'one', FIRST, line('A', 'a') + line('A', 'b') + line('S', 'a') + line('A', 'c'));
    write(old, 'one', SECOND, line('S', 'b'));
    write(old, 'two', FIRST, `${line('S', 'd')}${line('S', 'e').slice(0, 9)}`);

    await journals.add(old);

    const stored = new Set(['a']);
    const count = async (ids: readonly string[]) => ids.filter((id) => stored.has(id)).length;
    expect(await journals.missing(count)).toEqual({ ended: 2, open: 1 });
    journals.keep();
    expect(segmentsIn(join(directory, 'site', 'journal'))).toHaveLength(3);
    expect(existsSync(join(directory, 'site', 'journal.restoring'))).toBe(false);
  });

  it('an old journal that has less → that of the copy stays', async () => {
    const journals = restored();
    const text = line('A', 'a') + line('S', 'a');
    writeFileSync(journals.fileOf({ directory: 'one', name: FIRST }), text);
    write(join(directory, 'old'), 'one', FIRST, line('A', 'a'));
    await journals.add(join(directory, 'old'));
    journals.keep();
    expect(readFileSync(join(directory, 'site', 'journal', 'one', FIRST), 'utf8')).toBe(text);
  });

  it.each([
    { directory: '..', name: FIRST },
    { directory: 'a/b', name: FIRST },
    { directory: '', name: FIRST },
    { directory: 'one', name: '../owner' },
    { directory: 'one', name: 'owner' },
  ])('a segment named $directory/$name → refused, nothing is written', (segment) => {
    expect(() => restored().fileOf(segment)).toThrow('the file is damaged');
    expect(readdirSync(directory)).toEqual([]);
  });

  it('nothing to restore → no directory', () => {
    restored().keep();
    expect(readdirSync(directory)).toEqual([]);
  });
});

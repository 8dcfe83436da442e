import { describe, expect, it } from '@jest/globals';
import { FrameReader, frame } from './backup-frames.js';

const FILE = Buffer.concat([
  frame('header', { format: 1 }),
  frame('table', { name: 'apps' }),
  frame('data', Buffer.from('a\tb\n')),
  frame('data', Buffer.from('')),
  frame('data', Buffer.from('c\td\n')),
  frame('end', {}),
]);

async function* inPieces(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function readAll(bytes: Buffer, size: number): Promise<string> {
  const reader = new FrameReader(inPieces(bytes, size));
  const header = await reader.take('header');
  const table = await reader.take('table');
  const rows: Buffer[] = [];
  for await (const row of reader.data()) rows.push(row);
  await reader.take('end');
  return `${header.content}${table.content}${Buffer.concat(rows)}`;
}

describe('frames of a backup', () => {
  it.each([1, 2, 7, 1_000])('arrive in pieces of %i bytes → the same contents', async (size) => {
    expect(await readAll(FILE, size)).toBe('{"format":1}{"name":"apps"}a\tb\nc\td\n');
  });

  it('end early, at any byte → an error', async () => {
    for (let length = 0; length < FILE.length; length++) {
      await expect(readAll(FILE.subarray(0, length), 16)).rejects.toThrow('the file is cut off');
    }
  });

  it('are something else → an error that says so', async () => {
    await expect(readAll(Buffer.from('PGDMP\x01\x0e'), 16)).rejects.toThrow('not a backup');
    await expect(readAll(Buffer.concat([Buffer.from('H'), Buffer.alloc(4, 0xff)]), 16)).rejects.toThrow('not a backup');
    await expect(readAll(frame('end', {}), 16)).rejects.toThrow('lacks its part "header"');
  });
});

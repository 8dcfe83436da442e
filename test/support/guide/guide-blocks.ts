import { readFileSync } from 'node:fs';

const ROOT = new URL('../../../', import.meta.url);
const BLOCK = /^```(\w*)\n([\s\S]*?)^```$/gm;

/** One fenced block of a document. */
export interface GuideBlock {
  /** The word behind the fence: `sh`, `json`; empty without one. */
  readonly language: string;
  readonly text: string;
  /** Document and line, for messages. */
  readonly place: string;
}

/** The text of a document. @param path from the root of the repository. */
export function readGuide(path: string): string {
  return readFileSync(new URL(path, ROOT), 'utf8');
}

/** All fenced blocks of a document, in their order. */
export function blocksOf(path: string): readonly GuideBlock[] {
  const document = readGuide(path);
  return [...document.matchAll(BLOCK)].map(({ index, 1: language = '', 2: text = '' }) => ({
    language,
    text,
    place: `${path}:${document.slice(0, index).split('\n').length}`,
  }));
}

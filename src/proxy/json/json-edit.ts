import type { MemberSpan, ObjectSpan } from './scanned-body.js';

/** One edit of a scanned body. `json` is inserted verbatim. */
export type JsonEdit =
  | { readonly kind: 'replace'; readonly member: MemberSpan; readonly json: string }
  | { readonly kind: 'insert'; readonly object: ObjectSpan; readonly name: string; readonly json: string }
  | { readonly kind: 'remove'; readonly object: ObjectSpan; readonly member: MemberSpan };

/** Bytes to put in place of a range. */
export interface Splice {
  readonly start: number;
  readonly end: number;
  readonly text: string | Buffer;
}

/** Replaces the member's value when the object has it, else adds the member. The name must be in the scanned list. */
export function setMember(object: ObjectSpan, name: string, json: string): JsonEdit {
  const member = object.members.get(name);
  return member === undefined ? { kind: 'insert', object, name, json } : { kind: 'replace', member, json };
}

function removedPerObject(edits: readonly JsonEdit[]): Map<ObjectSpan, MemberSpan[]> {
  const removed = new Map<ObjectSpan, MemberSpan[]>();
  for (const edit of edits) {
    if (edit.kind === 'remove') removed.set(edit.object, [...(removed.get(edit.object) ?? []), edit.member]);
  }
  return removed;
}

/**
 * Ranges to remove. A removed member includes the comma before it. Members removed from the front of the object have
 * none; the last of them includes the comma after it.
 */
function removalSplices(members: readonly MemberSpan[]): Splice[] {
  const inOrder = members.toSorted((a, b) => a.index - b.index);
  let leading = 0;
  while (inOrder[leading]?.index === leading) leading++;
  return inOrder.map((member, position) => {
    const opensObject = position < leading;
    const start = member.commaBefore === -1 || opensObject ? member.keyStart : member.commaBefore;
    const end = opensObject && member.commaAfter !== -1 ? member.commaAfter + 1 : member.end;
    return { start, end, text: '' };
  });
}

function toSplices(edits: readonly JsonEdit[]): Splice[] {
  const removed = removedPerObject(edits);
  const members = new Map<ObjectSpan, number>();
  const splices = [...removed.values()].flatMap(removalSplices);
  for (const edit of edits) {
    if (edit.kind === 'replace') splices.push({ start: edit.member.start, end: edit.member.end, text: edit.json });
    if (edit.kind !== 'insert') continue;
    const { object } = edit;
    const before = members.get(object) ?? object.memberCount - (removed.get(object)?.length ?? 0);
    members.set(object, before + 1);
    const text = `${before > 0 ? ',' : ''}${JSON.stringify(edit.name)}:${edit.json}`;
    splices.push({ start: object.close, end: object.close, text });
  }
  return splices.sort((a, b) => a.start - b.start);
}

/**
 * Applies all edits and keeps every other byte; returns the same buffer when there are none. New members go to the end
 * of their object. Edits must not overlap: replacing an object and a member inside it is a programming error and
 * throws.
 */
export function applyEdits(bytes: Buffer, edits: readonly JsonEdit[]): Buffer {
  return edits.length === 0 ? bytes : splice(bytes, toSplices(edits));
}

/** Joins pieces in memory of their own, because a stream keeps its request. Source: ADR 0050. */
function joined(pieces: readonly Buffer[]): Buffer {
  const bytes = Buffer.allocUnsafeSlow(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) at += piece.copy(bytes, at);
  return bytes;
}

/** Replaces the ranges, which must be in order; returns the same buffer when there are none. */
export function splice(bytes: Buffer, splices: readonly Splice[]): Buffer {
  if (splices.length === 0) return bytes;
  const pieces: Buffer[] = [];
  let copied = 0;
  for (const { start, end, text } of splices) {
    if (start < copied) throw new Error(`edits overlap at byte ${start}`);
    pieces.push(bytes.subarray(copied, start), typeof text === 'string' ? Buffer.from(text) : text);
    copied = end;
  }
  pieces.push(bytes.subarray(copied));
  return joined(pieces);
}

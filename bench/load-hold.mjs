/** Thousands of slow streams, held open until all clients leave at once. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection, requestBytes } from './connection.mjs';

const OPENING_AT_ONCE = 100;
const OPEN_PATIENCE_MS = 60_000;
const held = new Set();

/**
 * Opens `count` streams, at most OPENING_AT_ONCE waiting for their first byte at a time, and keeps them.
 *
 * @returns {Promise<{ opened: number, refused: number }>}
 */
export async function holdStreams({ target, body, count }) {
  const request = requestBytes(target, body);
  const tally = { asked: 0, opened: 0, refused: 0 };
  const openNext = () => {
    if (tally.asked === count) return;
    tally.asked += 1;
    openOne(target.port, request, tally, openNext);
  };
  for (let i = 0; i < OPENING_AT_ONCE; i += 1) openNext();
  for (let waitedMs = 0; tally.opened + tally.refused < count && waitedMs < OPEN_PATIENCE_MS; waitedMs += 50) {
    await sleep(50);
  }
  return { opened: tally.opened, refused: count - tally.opened };
}

/** `onSettled` is called once: at the first body byte, at a refusal, or when the connection is lost before either. */
function openOne(port, request, tally, onSettled) {
  let isOpen = false;
  let isSettled = false;
  const settle = (outcome) => {
    if (isSettled) return;
    isSettled = true;
    tally[outcome] += 1;
    onSettled();
  };
  const connection = new Connection(port, () => {
    held.delete(connection);
    settle('refused');
  });
  held.add(connection);
  connection.send(request, {
    onHead: (statusCode) => {
      isOpen = statusCode === 200;
    },
    onBody: () => settle(isOpen ? 'opened' : 'refused'),
    onEnd: () => {
      held.delete(connection);
      connection.destroy();
      settle('refused');
    },
  });
}

/** Destroys every held connection in one turn. @returns {Promise<{ left: number }>} how many were still open */
export async function leaveStreams() {
  const left = held.size;
  for (const connection of held) connection.destroy();
  held.clear();
  return { left };
}

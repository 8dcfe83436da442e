import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { Heartbeat } from './heartbeat.js';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

function begin(before?: string) {
  let written = '';
  let close: () => void = () => undefined;
  const response = {
    ...{ destroyed: false, writableEnded: false, headersSent: true, writableNeedDrain: false },
    write(text: string): boolean {
      written += text;
      return true;
    },
    once(_event: 'close', listener: () => void): void {
      close = listener;
    },
  };
  const heartbeat = new Heartbeat(response, 1_000, before);
  const sent = () => {
    const text = written;
    written = '';
    return text;
  };
  return { response, heartbeat, sent, close: () => close() };
}

it('silence → one comment per interval, from the start', () => {
  const { sent } = begin();
  jest.advanceTimersByTime(999);
  expect(sent()).toBe('');
  jest.advanceTimersByTime(1);
  expect(sent()).toBe(': gateway\n\n');
  jest.advanceTimersByTime(2_000);
  expect(sent()).toBe(': gateway\n\n: gateway\n\n');
});

it('bytes → the interval starts again', () => {
  const { heartbeat, sent } = begin();
  jest.advanceTimersByTime(900);
  heartbeat.sent(Buffer.from('data: 1\n\n'));
  jest.advanceTimersByTime(900);
  expect(sent()).toBe('');
  jest.advanceTimersByTime(100);
  expect(sent()).toBe(': gateway\n\n');
});

it.each(['data: 1\n\n', 'data: 1\r\n\r\n', 'data: 1\r\r'])('after %j, byte by byte → between events', (text) => {
  const { heartbeat, sent } = begin();
  for (const byte of Buffer.from(text)) {
    jest.advanceTimersByTime(1_000);
    heartbeat.sent(Buffer.from([byte]));
  }
  sent();
  jest.advanceTimersByTime(1_000);
  expect(sent()).toBe(': gateway\n\n');
});

it.each(['data: 1', 'data: 1\n', 'data: 1\r\n', '\n: x'])('after %j → not in the middle of an event', (text) => {
  const { heartbeat, sent } = begin();
  heartbeat.sent(Buffer.from(text));
  jest.advanceTimersByTime(5_000);
  expect(sent()).toBe('');
});

it('resumed in the middle of an event → not before its end', () => {
  const { heartbeat, sent } = begin('ta: ');
  jest.advanceTimersByTime(1_000);
  expect(sent()).toBe('');
  heartbeat.sent(Buffer.from('1\n\n'));
  jest.advanceTimersByTime(1_000);
  expect(sent()).toBe(': gateway\n\n');
});

it('before the head, to a client that does not read, after the end → nothing', () => {
  for (const state of [
    { headersSent: false },
    { writableNeedDrain: true },
    { writableEnded: true },
    { destroyed: true },
  ]) {
    const { response, sent } = begin();
    Object.assign(response, state);
    jest.advanceTimersByTime(5_000);
    expect(sent()).toBe('');
  }
});

it('closed → nothing more, no timer', () => {
  const { close } = begin();
  close();
  expect(jest.getTimerCount()).toBe(0);
});

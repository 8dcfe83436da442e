import { get } from 'node:http';
import { expect, it } from '@jest/globals';
import { listenOnLoopback } from './loopback.js';

const CODE = 'right'.repeat(8);
const statusOf = (redirect: string, path: string) =>
  new Promise((resolve) => {
    const { port } = new URL(redirect);
    get({ port, path, host: '127.0.0.1' }, (answer) => resolve(answer.resume().statusCode));
  });

it('codes of another login → 404, and it keeps waiting until the right one arrives', async () => {
  const asked: string[] = [];
  const { redirect, redeemed, close } = await listenOnLoopback(async (code) => {
    asked.push(code);
    return code === CODE ? 'key' : undefined;
  });
  for (const path of ['//', '/callback?code=short', `/other?code=${CODE}`, `/callback?code=${'w'.repeat(43)}`]) {
    expect(await statusOf(redirect, path)).toBe(404);
  }
  expect(await statusOf(redirect, `/callback?code=${CODE}`)).toBe(200);
  expect(await redeemed).toBe('key');
  expect(asked).toEqual(['w'.repeat(43), CODE]);
  close();
});

it('a code that cannot be redeemed → 404, and the login gets the reason', async () => {
  const { redirect, redeemed, close } = await listenOnLoopback(() => Promise.reject(new Error('gone')));
  expect(await statusOf(redirect, `/callback?code=${CODE}`)).toBe(404);
  await expect(redeemed).rejects.toThrow('gone');
  close();
});

import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { FakeKeptObjects } from '../../../test/support/usage/recording/fake-kept-objects.js';
import { SystemClock } from '../../common/clock.js';
import { Log } from '../../common/log/log.js';
import { KeptObjects } from './kept-objects.service.js';

const APP = 'notes-abc123';

function assembled() {
  const repository = new FakeKeptObjects();
  const lines: string[] = [];
  const objects = new KeptObjects(repository, new Log(new SystemClock(), 'info', (line) => lines.push(line)));
  return { repository, objects, lines };
}

afterEach(() => {
  jest.useRealTimers();
});

describe('the owner of an object', () => {
  it.each([
    ['u1', 'u1', true],
    ['u1', 'u2', false],
    ['u1', null, false],
    [null, 'u1', false],
    [null, null, true],
  ])('made for %j, named by %j → owned: %s', async (maker, caller, isOwned) => {
    const { objects } = assembled();
    objects.rememberResponse(APP, maker, 'resp_1');
    objects.remember(APP, maker, ['rs_1', 'fc_1']);
    const foreign = await objects.findForeign(APP, caller, ['rs_1', 'resp_1', 'fc_1']);
    expect(foreign).toBe(isOwned ? undefined : 'rs_1');
    expect(await objects.findForeign('other-abc123', maker, ['rs_1'])).toBe('rs_1');
  });

  it('one foreign object among owned ones → that one', async () => {
    const { objects } = assembled();
    objects.remember(APP, 'u1', ['rs_1', 'rs_3']);
    objects.remember(APP, 'u2', ['rs_2']);
    expect(await objects.findForeign(APP, 'u1', ['rs_1', 'rs_2', 'rs_3'])).toBe('rs_2');
  });

  it('stored by another process → looked up together, then known', async () => {
    const { objects, repository } = assembled();
    await repository.store(['a', 'b'].map((id) => ({ appId: APP, userId: null, id })));
    expect(await objects.findForeign(APP, null, ['a', 'b'])).toBeUndefined();
    expect(await objects.findForeign(APP, null, ['b', 'a'])).toBeUndefined();
    expect(repository.lookedUp).toEqual([['a', 'b']]);
  });

  it.each([
    ['stored a moment later', true],
    ['never stored', false],
  ])('%s → looked up once more after a moment', async (_name, comes) => {
    jest.useFakeTimers();
    const { objects, repository } = assembled();
    const looking = objects.findForeign(APP, null, ['a', 'b', 'c']);
    await jest.advanceTimersByTimeAsync(299);
    expect(repository.lookedUp).toHaveLength(1);
    if (comes) await repository.store(['a', 'b', 'c'].map((id) => ({ appId: APP, userId: null, id })));
    await jest.advanceTimersByTimeAsync(1);
    expect(await looking).toBe(comes ? undefined : 'a');
    expect(repository.lookedUp).toHaveLength(2);
  });

  it.each(['resp\u0000', '\ud800'])('id %j, which is never stored → foreign without a query', async (id) => {
    const { objects, repository } = assembled();
    expect(await objects.findForeign(APP, null, [id])).toBe(id);
    expect(repository.lookedUp).toEqual([]);
  });
});

describe('storing', () => {
  it('at the end of the call → each id once', async () => {
    const { objects, repository } = assembled();
    objects.remember(APP, 'u1', ['rs_1']);
    objects.remember(APP, 'u1', ['rs_1', 'rs_2']);
    await objects.onApplicationShutdown();
    expect(repository.stored).toEqual(['rs_1', 'rs_2'].map((id) => ({ appId: APP, userId: 'u1', id })));
  });

  it('a failure → logged and retried', async () => {
    const { objects, repository, lines } = assembled();
    const store = jest.spyOn(repository, 'store').mockRejectedValueOnce(new Error('no connection'));
    objects.remember(APP, null, ['rs_1']);
    await objects.onApplicationShutdown();
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({ message: 'kept_objects_write_failed', pending: 1 }),
    ]);
    await objects.onApplicationShutdown();
    expect(store).toHaveBeenCalledTimes(2);
    expect(repository.stored).toHaveLength(1);
  });
});

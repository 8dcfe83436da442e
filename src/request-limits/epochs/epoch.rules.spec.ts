import { describe, expect, it } from '@jest/globals';
import { type EpochState, nextStep, type OwnState } from './epoch.rules.js';

const IN_REDIS: EpochState = { epoch: 7, countedIn: 'redis', isOpen: true, members: ['a', 'b'], openForMs: 5_000 };
const ON_INSTANCES: EpochState = { ...IN_REDIS, countedIn: 'instances' };
const MEMBER: OwnState = {
  id: 'a',
  lives: true,
  enteredEpoch: 7,
  hasCounts: false,
  redisAnswers: true,
  redisAnswersAll: true,
  redisForgot: false,
};
const STRANGER: OwnState = { ...MEMBER, enteredEpoch: 0 };
const LATE: OwnState = { ...MEMBER, enteredEpoch: 5, hasCounts: true };

describe('next step of an instance', () => {
  it.each<[string, EpochState, OwnState, object]>([
    ['all is well', IN_REDIS, MEMBER, { do: 'count' }],
    ['the others take it for dead', IN_REDIS, { ...LATE, lives: false }, { do: 'wait' }],
    ['Redis is lost', IN_REDIS, { ...MEMBER, redisAnswers: false }, { do: 'begin', countedIn: 'instances' }],
    ['Redis has forgotten', IN_REDIS, { ...MEMBER, redisForgot: true }, { do: 'begin', countedIn: 'redis' }],
    ['a new instance, counted in Redis', IN_REDIS, STRANGER, { do: 'enter' }],
    ['a new instance without Redis', IN_REDIS, { ...STRANGER, redisAnswers: false }, { do: 'begin' }],
    ['it was away and has counts', IN_REDIS, LATE, { do: 'begin', reason: 'instance_returned' }],
    ['it was away and has none', IN_REDIS, { ...LATE, hasCounts: false }, { do: 'enter' }],
    ['degraded, Redis answers not all', ON_INSTANCES, { ...MEMBER, redisAnswersAll: false }, { do: 'count' }],
    ['degraded, Redis answers all', ON_INSTANCES, MEMBER, { do: 'begin', countedIn: 'redis', reason: 'redis_back' }],
    ['degraded a moment ago', { ...ON_INSTANCES, openForMs: 999 }, MEMBER, { do: 'count' }],
    [
      'degraded, a new instance',
      ON_INSTANCES,
      { ...STRANGER, redisAnswersAll: false },
      { do: 'begin', countedIn: 'instances', reason: 'instance_joined' },
    ],
    [
      'degraded, opened without it',
      { ...ON_INSTANCES, members: ['b'] },
      { ...MEMBER, redisAnswersAll: false },
      { do: 'begin', countedIn: 'instances' },
    ],
    ['being put together, not handed over', { ...IN_REDIS, isOpen: false }, LATE, { do: 'hand_over' }],
    ['being put together, handed over', { ...IN_REDIS, isOpen: false }, MEMBER, { do: 'open' }],
    [
      'being put together, Redis lost meanwhile',
      { ...IN_REDIS, isOpen: false },
      { ...MEMBER, redisAnswers: false },
      { do: 'open' },
    ],
  ])('%s', (_situation, state, own, step) => {
    expect(nextStep(state, own)).toMatchObject(step);
  });
});

import { describe, expect, it } from '@jest/globals';
import { type CountingState, EpochMachine, type EpochState, nextStep, type OwnState } from './epoch-machine.js';

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

describe('states of counting', () => {
  const OLD = { epoch: 6 };
  const BACKEND = { epoch: 7 };
  const NEXT = { epoch: 8 };
  const VALID_UNTIL_MS = 1_000;
  type Machine = EpochMachine<{ readonly epoch: number }>;

  const IDLE: readonly ((machine: Machine) => unknown)[] = [];
  const COUNTING = [(machine: Machine) => machine.count(BACKEND, VALID_UNTIL_MS)];
  const SUSPENDED = [...COUNTING, (machine: Machine) => machine.suspend(BACKEND)];
  const FORGOTTEN = [...COUNTING, (machine: Machine) => machine.forget(BACKEND)];
  const LEFT = [...COUNTING, (machine: Machine) => machine.leave()];
  const LEFT_IDLE = [(machine: Machine) => machine.leave()];

  const counting = (backend: object) => ({ name: 'counting', backend, validUntilMs: VALID_UNTIL_MS });
  const suspended = (redisForgot: boolean) => ({ name: 'suspended', backend: BACKEND, redisForgot });
  const left = (backend: object | undefined) => ({ name: 'left', backend });
  const idle = { name: 'idle' };

  const EVENTS = {
    'count it': (machine: Machine) => machine.count(BACKEND, VALID_UNTIL_MS),
    'count the next': (machine: Machine) => machine.count(NEXT, VALID_UNTIL_MS),
    'suspend it': (machine: Machine) => machine.suspend(BACKEND),
    'suspend whatever counts': (machine: Machine) => machine.suspend(),
    'suspend an earlier one': (machine: Machine) => machine.suspend(OLD),
    'forget it': (machine: Machine) => machine.forget(BACKEND),
    'forget an earlier one': (machine: Machine) => machine.forget(OLD),
    'the epoch continues': (machine: Machine) => machine.next(IN_REDIS, MEMBER),
    'the lease has expired': (machine: Machine) => machine.next(IN_REDIS, { ...MEMBER, lives: false }),
    enter: (machine: Machine) => machine.enter(),
    leave: (machine: Machine) => machine.leave(),
  } as const;

  const ROWS: readonly [string, typeof IDLE, Readonly<Record<keyof typeof EVENTS, object>>][] = [
    [
      'idle',
      IDLE,
      {
        'count it': counting(BACKEND),
        'count the next': counting(NEXT),
        'suspend it': idle,
        'suspend whatever counts': idle,
        'suspend an earlier one': idle,
        'forget it': idle,
        'forget an earlier one': idle,
        'the epoch continues': idle,
        'the lease has expired': idle,
        enter: idle,
        leave: left(undefined),
      },
    ],
    [
      'counting',
      COUNTING,
      {
        'count it': counting(BACKEND),
        'count the next': counting(NEXT),
        'suspend it': suspended(false),
        'suspend whatever counts': suspended(false),
        'suspend an earlier one': counting(BACKEND),
        'forget it': suspended(true),
        'forget an earlier one': counting(BACKEND),
        'the epoch continues': counting(BACKEND),
        'the lease has expired': suspended(false),
        enter: counting(BACKEND),
        leave: left(BACKEND),
      },
    ],
    [
      'suspended',
      SUSPENDED,
      {
        'count it': counting(BACKEND),
        'count the next': counting(NEXT),
        'suspend it': suspended(false),
        'suspend whatever counts': suspended(false),
        'suspend an earlier one': suspended(false),
        'forget it': suspended(true),
        'forget an earlier one': suspended(false),
        'the epoch continues': suspended(false),
        'the lease has expired': suspended(false),
        enter: idle,
        leave: left(BACKEND),
      },
    ],
    [
      'suspended, forgotten by Redis',
      FORGOTTEN,
      {
        'count it': suspended(true),
        'count the next': counting(NEXT),
        'suspend it': suspended(true),
        'suspend whatever counts': suspended(true),
        'suspend an earlier one': suspended(true),
        'forget it': suspended(true),
        'forget an earlier one': suspended(true),
        'the epoch continues': suspended(true),
        'the lease has expired': suspended(true),
        enter: idle,
        leave: left(BACKEND),
      },
    ],
    [
      'left with counts',
      LEFT,
      {
        'count it': left(BACKEND),
        'count the next': left(BACKEND),
        'suspend it': left(BACKEND),
        'suspend whatever counts': left(BACKEND),
        'suspend an earlier one': left(BACKEND),
        'forget it': left(BACKEND),
        'forget an earlier one': left(BACKEND),
        'the epoch continues': left(BACKEND),
        'the lease has expired': left(BACKEND),
        enter: left(undefined),
        leave: left(BACKEND),
      },
    ],
    [
      'left without counts',
      LEFT_IDLE,
      {
        'count it': left(undefined),
        'count the next': left(undefined),
        'suspend it': left(undefined),
        'suspend whatever counts': left(undefined),
        'suspend an earlier one': left(undefined),
        'forget it': left(undefined),
        'forget an earlier one': left(undefined),
        'the epoch continues': left(undefined),
        'the lease has expired': left(undefined),
        enter: left(undefined),
        leave: left(undefined),
      },
    ],
  ];

  const machineAfter = (path: typeof IDLE) => {
    const machine: Machine = new EpochMachine();
    for (const event of path) event(machine);
    return machine;
  };

  it.each(ROWS)('%s → the state that follows each event', (_state, path, follows) => {
    const found: Record<string, CountingState<object>> = {};
    for (const [name, event] of Object.entries(EVENTS)) {
      const machine = machineAfter(path);
      event(machine);
      found[name] = machine.current;
    }
    expect(found).toEqual(follows);
  });

  it('only a counting backend with a valid lease → usable; its counts are held until they are handed over', () => {
    const usable = (path: typeof IDLE, nowMs: number) => machineAfter(path).usableAt(nowMs);
    expect([usable(COUNTING, VALID_UNTIL_MS - 1), usable(COUNTING, VALID_UNTIL_MS)]).toEqual([BACKEND, undefined]);
    for (const path of [IDLE, SUSPENDED, FORGOTTEN, LEFT]) expect(usable(path, 0)).toBeUndefined();
    const held = [IDLE, COUNTING, SUSPENDED, FORGOTTEN, LEFT].map((path) => machineAfter(path).held);
    expect(held).toEqual([undefined, BACKEND, BACKEND, BACKEND, BACKEND]);
  });

  it('Redis has lost its data → the next epoch begins; in a later epoch this does not matter', () => {
    const machine = machineAfter(FORGOTTEN);
    expect(machine.next(IN_REDIS, MEMBER)).toEqual({ do: 'begin', countedIn: 'redis', reason: 'redis_forgot' });
    expect(machine.next({ ...IN_REDIS, epoch: 8 }, { ...MEMBER, enteredEpoch: 8 })).toEqual({ do: 'count' });
  });

  it('this instance has stopped → takes no step', () => {
    expect(machineAfter(LEFT).next(IN_REDIS, STRANGER)).toEqual({ do: 'wait' });
  });

  it.each([
    ['suspend', (machine: Machine, backend: typeof OLD) => machine.suspend(backend)],
    ['forget', (machine: Machine, backend: typeof OLD) => machine.forget(backend)],
  ])('%s → reports whether the backend was the current one', (_event, send) => {
    const told = [IDLE, COUNTING, SUSPENDED, LEFT].map((path) => send(machineAfter(path), BACKEND));
    expect(told).toEqual([false, true, true, false]);
    expect(send(machineAfter(COUNTING), OLD)).toBe(false);
  });
});

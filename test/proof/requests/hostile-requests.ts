import { Chance } from '../../support/chance.js';
import { FOREIGN_CONTENT_TYPES, HEADERS } from './hostile-headers.js';
import { brokenJson, hostileJson } from './hostile-json.js';
import { PATH_SEGMENTS, QUERY_VALUES, STRANGE_NAMES, UNSTORABLE } from './hostile-texts.js';
import { type Operation, usualValue } from './operations.js';

/** The values of a route's parameters, by name. */
export type Ids = Readonly<Record<string, string>>;

/** Who asks. */
export type Caller =
  | 'owner key'
  | 'owner session'
  | 'reading key'
  | 'stranger'
  | 'person'
  | 'app key'
  | 'watcher'
  | 'nobody';

/** The parts of requests that would be served. */
interface Ground {
  readonly operations: readonly Operation[];
  /** Ids of an account to which no caller belongs. */
  readonly theirIds: readonly string[];
  readonly parts: {
    ids(operation: Operation): Promise<Ids>;
    /** Bodies to send instead of the document's example, where that example names something that does not exist. */
    bodies(operation: Operation): Promise<readonly unknown[]>;
    /** Names and values in turn. */
    credential(caller: Caller): Promise<readonly string[]>;
    /** Beside a credential. */
    moreHeaders(operation: Operation): Promise<readonly string[]>;
  };
}

/** A request, down to the bytes. */
export interface HostileRequest {
  readonly index: number;
  readonly operation: Operation;
  readonly caller: Caller;
  readonly method: string;
  readonly target: string;
  /** Names and values in turn. */
  readonly headers: readonly string[];
  readonly body: Buffer | undefined;
  /** Whether a success would be wrong in any case. */
  readonly mustBeRefused: boolean;
}

type Part = 'path' | 'query' | 'body' | 'bytes' | 'type' | 'headers' | 'method' | 'size';

/** Oddities of any request, and of one with a valid body; with their relative frequency. */
const ANY: readonly Part[] = ['headers', 'headers', 'method', 'path', 'query', 'body'];
const OF_PATH = times(6, 'path');
const OF_QUERY = times(8, 'query');
const OF_BODY: readonly Part[] = [...times(8, 'body'), 'bytes', 'bytes', 'type', 'size'];
const OTHERS: readonly Caller[] = [
  'owner session',
  'reading key',
  'stranger',
  'person',
  'app key',
  'watcher',
  'nobody',
];
const OTHER_METHODS = ['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE', 'PATCH', 'POST', 'TRACE', 'QUERY', 'PROPFIND'];
const GIANT_BYTES = 1_100_000;

/**
 * Hostile requests to every operation of a service; the same seed makes the same ones, but for ids that the service
 * makes.
 */
export class HostileRequests {
  constructor(
    private readonly ground: Ground,
    private readonly seed: number,
  ) {}

  /** The request of a number: of each operation in turn, each with its own random source. */
  async at(index: number): Promise<HostileRequest> {
    const chance = new Chance(Math.imul(this.seed, 0x9e3779b1) + index);
    const { operations } = this.ground;
    const operation = operations[index % operations.length] ?? chance.of(operations);
    const possible = partsOf(operation);
    const parts = new Set([chance.of(possible), ...(chance.is(0.3) ? [chance.of(possible)] : [])]);
    const caller = callerOf(operation, chance);
    const { bytes, contentType, isUnreadable } = await this.bodyOf(operation, parts, chance);
    const method = parts.has('method') ? chance.of(OTHER_METHODS) : operation.method;
    const hostile = parts.has('headers') ? chance.of(HEADERS) : [];
    return {
      ...{ index, operation, caller, method },
      target: await this.targetOf(operation, parts, chance),
      headers: together(
        [...(await this.ground.parts.credential(caller)), 'x-forwarded-for', addressOf(chance)],
        contentType === undefined ? [] : ['content-type', contentType],
        await this.ground.parts.moreHeaders(operation),
        hostile,
      ),
      body: bytes,
      mustBeRefused: isUnreadable || (caller === 'nobody' && operation.schemes.length > 0),
    };
  }

  private async targetOf(operation: Operation, parts: ReadonlySet<Part>, chance: Chance): Promise<string> {
    const ids = await this.ground.parts.ids(operation);
    return this.pathOf(operation, ids, parts.has('path'), chance) + queryOf(operation, ids, parts.has('query'), chance);
  }

  private pathOf({ path: template }: Operation, ids: Ids, isHostile: boolean, chance: Chance): string {
    const names = [...template.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    const odd = isHostile && names.length > 0 ? chance.of(names) : undefined;
    const path = template.replaceAll(/\{(\w+)\}/g, (_all, name: string) => {
      if (name !== odd) return ids[name] ?? 'a';
      return chance.of([this.ground.theirIds, UNSTORABLE, PATH_SEGMENTS, PATH_SEGMENTS].map((list) => chance.of(list)));
    });
    if (!isHostile || odd !== undefined) return path;
    const more = `${path}/${chance.of(PATH_SEGMENTS)}`;
    return chance.of([
      more,
      more,
      `${path}/`,
      `/${path}`,
      path.toUpperCase(),
      `${path}%00`,
      path.replace('/v1', '/v1/.'),
    ]);
  }

  private async bodyOf(operation: Operation, parts: ReadonlySet<Part>, chance: Chance): Promise<SentBody> {
    const { example } = operation;
    if (example === undefined && !(parts.has('body') || parts.has('bytes'))) return NO_BODY;
    const bodies = await this.ground.parts.bodies(operation);
    const usual = chance.of(bodies.length > 0 ? bodies : [example ?? {}]);
    const bytes = parts.has('bytes')
      ? brokenJson(usual, chance)
      : Buffer.from(parts.has('body') ? hostileJson(usual, operation.members, chance) : JSON.stringify(usual));
    const isForeign = parts.has('type');
    const contentType = isForeign ? chance.of(FOREIGN_CONTENT_TYPES) : jsonType(chance);
    const isJudged = example !== undefined && !parts.has('method') && !isRelayed(operation);
    return {
      bytes: parts.has('size') ? Buffer.concat([bytes, Buffer.alloc(GIANT_BYTES, chance.of([' ', 'a']))]) : bytes,
      contentType: contentType === '' ? undefined : contentType,
      isUnreadable: isJudged && (parts.has('bytes') || parts.has('size') || (isForeign && !takesForms(operation))),
    };
  }
}

interface SentBody {
  readonly bytes: Buffer | undefined;
  readonly contentType: string | undefined;
  /** Whether no parser may accept it as valid input of the operation. */
  readonly isUnreadable: boolean;
}

const NO_BODY: SentBody = { bytes: undefined, contentType: undefined, isUnreadable: false };

/** Whether bodies go to a provider, which judges them. */
export function isRelayed({ path }: Operation): boolean {
  return /^\/v1\/apps\/\{app\}\/(?:proxy|endpoints)\//.test(path);
}

function takesForms({ path }: Operation): boolean {
  return path === '/v1/auth/sign-in/email';
}

function jsonType(chance: Chance): string {
  if (chance.is(0.8)) return 'application/json';
  return chance.of([
    'application/json; charset=utf-8',
    'APPLICATION/JSON',
    'application/vnd.api+json',
    'application/json;',
  ]);
}

function times(count: number, part: Part): readonly Part[] {
  return Array.from({ length: count }, () => part);
}

function partsOf({ path, query, example }: Operation): readonly Part[] {
  return [
    ...ANY,
    ...(path.includes('{') ? OF_PATH : []),
    ...(query.length > 0 ? OF_QUERY : []),
    ...(example === undefined ? [] : OF_BODY),
  ];
}

/** Mostly a caller who is allowed according to the document. */
function callerOf({ schemes }: Operation, chance: Chance): Caller {
  if (chance.is(0.15)) return chance.of(OTHERS);
  if (schemes.includes('MetricsBearer')) return 'watcher';
  if (schemes.includes('GatewayBearer')) return 'app key';
  if (schemes.includes('ConsoleSession')) return chance.of(['owner key', 'owner session', 'owner session', 'person']);
  return chance.of(['nobody', 'owner session', 'owner key', 'app key']);
}

function queryOf({ query }: Operation, ids: Ids, isHostile: boolean, chance: Chance): string {
  const usual = query
    .filter(({ required }) => required || chance.is(0.3))
    .map((one) => `${one.name}=${ids[one.name] ?? usualValue(one)}`);
  if (!isHostile) return usual.length === 0 ? '' : `?${usual.join('&')}`;
  const names = [...query.map(({ name }) => name), chance.of(STRANGE_NAMES.map(encodeOdd))];
  const name = query.length > 0 && chance.is(0.8) ? chance.of(query).name : chance.of(names);
  const value = chance.of(chance.is(0.25) ? UNSTORABLE : QUERY_VALUES);
  const odd = chance.of([
    ...Array.from({ length: 8 }, () => `${name}=${value}`),
    ...[
      `${name}=a&${name}=${value}`,
      `${name}[b]=${value}`,
      `${name}[]=${value}`,
      `${name}[__proto__]=${value}`,
      name,
      `=${value}`,
    ],
    ...[
      '&&&=',
      `%00=${value}`,
      `${name}=${value};x=1`,
      `%`,
      `${name}=${value}#${value}`,
      `__proto__=${value}&__proto__[a]=1`,
    ],
    Array.from({ length: 1_000 }, (_, at) => `${name.slice(0, 20)}${at}=1`).join('&'),
  ]);
  return `?${[...usual.filter((pair) => !pair.startsWith(`${name}=`)), odd].join('&')}`;
}

/** A name as it can stand in a target; halves of characters become what URL software makes of them. */
function encodeOdd(name: string): string {
  return encodeURIComponent(name.toWellFormed());
}

/** Later headers take the place of earlier ones of the same name, unless they are repeated on purpose. */
function together(...lists: readonly (readonly string[])[]): readonly string[] {
  let headers: string[] = [];
  for (const list of lists) {
    const names = new Set(list.filter((_, at) => at % 2 === 0));
    headers = [...headers.filter((_, at) => !names.has(headers[at - (at % 2)] ?? '')), ...list];
  }
  return headers;
}

/** An unused address: address limits are not tested here. */
function addressOf(chance: Chance): string {
  return [11, chance.below(256), chance.below(256), chance.below(256)].join('.');
}

import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { rawDeviceConfig, rawSelection, rawServerConfig } from '../../../test/support/apps/app-configs.js';
import { fuzzRuns } from '../../../test/support/jest/fuzz-runs.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import type { AppConfig } from './app-config.js';
import { parseAppConfig } from './app-config.js';

type Path = readonly (string | number)[];

/** A copy of the configuration with the value at `path` replaced. */
function replaced(raw: unknown, path: Path, value: unknown): unknown {
  const [head, ...rest] = path;
  if (head === undefined) return value;
  if (Array.isArray(raw)) return raw.map((entry, index) => (index === head ? replaced(entry, rest, value) : entry));
  const members = Object.entries(Object(raw)).map(([key, entry]): [string, unknown] => [
    key,
    key === head ? replaced(entry, rest, value) : entry,
  ]);
  return Object.fromEntries(members);
}

function valueAt(raw: unknown, path: Path): unknown {
  return path.reduce<unknown>((value, key) => Object(value)[key], raw);
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Every path in a value, including the root. */
function placesOf(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path];
  const members = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  return [path, ...members.flatMap(([key, entry]) => placesOf(entry, [...path, key]))];
}

/** The parsed configuration, which parses to itself; or the message of an invalid request that names a place. */
function validate(raw: unknown): AppConfig | string {
  try {
    const config = parseAppConfig(raw);
    expect(parseAppConfig(config)).toEqual(config);
    const stored: unknown = JSON.parse(JSON.stringify(config));
    expect(parseAppConfig(stored)).toEqual(stored);
    return config;
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    expect(error.code).toBe('invalid_request');
    expect(error.status).toBe(400);
    expect(error.message).toMatch(/^config(?:\.[^\s:".]+|\."(?:[^"\\]|\\.)*")*: \S/);
    return error.message;
  }
}

const WRONG: readonly unknown[] = [null, [], {}, '', 0, -1, true, '\u0000'];

/** Places where the wrong value is valid. */
const ACCEPTED = new Set([
  'authentication.end_user.issuer.required_claims = []',
  'authentication.end_user.issuer.required_claims.0.equals = 0',
  'authentication.end_user.issuer.required_claims.0.equals = -1',
  'authentication.end_user.issuer.required_claims.0.equals = true',
  'routing.providers.selected = {}',
  'routing.providers.selected.openai.allowed_paths = []',
  'routing.providers.selected.openai.allowed_models = []',
  'routing.model_rewrites = {}',
  'limits = {}',
  'limits.per_user = {}',
  'limits.per_app = {}',
  ...['per_user', 'per_app'].flatMap((scope) => [
    `limits.${scope}.requests = {}`,
    `limits.${scope}.requests.per_minute = null`,
    `limits.${scope}.requests.per_day = null`,
    `limits.${scope}.spending = {}`,
    `limits.${scope}.spending.monthly_usd = null`,
    `limits.${scope}.spending.monthly_usd = 0`,
  ]),
  'endpoints = {}',
  'endpoints.summarize.params = {}',
  'endpoints.summarize.fallback = []',
  'endpoints.transcribe.fallback = []',
  'allowed_origins = []',
  'streams.resume_seconds = 0',
]);

const FREE_JSON = 'endpoints.summarize.params.';

describe('parseAppConfig: wrong values', () => {
  const places = placesOf(rawDeviceConfig());
  const cases = places.flatMap((path) => WRONG.map((wrong) => ({ path, wrong })));

  it.each(cases)('$path: $wrong → accepted if the grammar allows it, else 400 naming the path', ({ path, wrong }) => {
    const answer = validate(replaced(rawDeviceConfig(), path, wrong));
    const place = path.join('.');
    const free = place.startsWith(FREE_JSON) && wrong !== '\u0000';
    const accepted = free || ACCEPTED.has(`${place} = ${JSON.stringify(wrong)}`);
    if (accepted) expect(answer).toBeInstanceOf(Object);
    else expect(answer).toContain(['config', ...path.slice(0, -1)].join('.'));
  });

  const objects = places.filter((path) => isObject(valueAt(rawDeviceConfig(), path)));

  it.each(objects.map((path) => [path]))('an extra member at %j → 400 naming it, except in free params', (path) => {
    const raw = rawDeviceConfig();
    const answer = validate(replaced(raw, path, { ...Object(valueAt(raw, path)), surprise: 1 }));
    if (path.includes('params')) expect(answer).toBeInstanceOf(Object);
    else expect(answer).toContain(`${['config', ...path].join('.')}.surprise: `);
  });

  it.each(places.map((path) => [path]))('prototype names at %j: inert, and refused except in free params', (path) => {
    for (const name of ['__proto__', 'constructor', 'prototype']) {
      const wrong: unknown = JSON.parse(`{"${name}":{"polluted":true}}`);
      const answer = validate(replaced(rawDeviceConfig(), path, wrong));
      if (path.includes('params')) expect(answer).toBeInstanceOf(Object);
      else expect(answer).toContain('config');
      expect(Object.getOwnPropertyNames(Object.prototype)).not.toContain('polluted');
    }
  });
});

describe('parseAppConfig: property', () => {
  it('a random value at a random place of a valid configuration → parsed into a stable form, or refused by name', () => {
    const places = placesOf(rawDeviceConfig());
    fc.assert(
      fc.property(fc.constantFrom(...places), fc.jsonValue(), (path, value) => {
        validate(replaced(rawDeviceConfig(), path, value));
      }),
      { numRuns: fuzzRuns(3000) },
    );
  });

  it('anything at all → parsed into a stable form, or refused by name', () => {
    fc.assert(
      fc.property(fc.anything({ withNullPrototype: true, withBigInt: true }), (value) => {
        expect(validate(value)).toContain('config');
      }),
      { numRuns: fuzzRuns(2000) },
    );
  });
});

describe('parseAppConfig: normalised form', () => {
  it('the minimal configuration → every default filled in', () => {
    const unlimited = { requests: { per_minute: null, per_day: null }, spending: { monthly_usd: null } };
    expect(parseAppConfig(rawServerConfig())).toEqual({
      authentication: { type: 'api_key' },
      routing: { providers: { mode: 'all' }, model_rewrites: {} },
      limits: { per_user: unlimited, per_app: unlimited },
      endpoints: {},
    });
  });

  it('the full configuration → unchanged except for lists and header case', () => {
    const raw = rawDeviceConfig();
    const config = parseAppConfig(raw);
    const issuer = ['authentication', 'end_user', 'issuer'];
    const audienceListed = replaced(raw, [...issuer, 'audience'], ['mobile']);
    expect(config).toEqual(replaced(audienceListed, [...issuer, 'token_header'], 'x-gateway-token'));
  });

  it('the raw configuration is not changed by parsing', () => {
    const raw = rawDeviceConfig();
    parseAppConfig(raw);
    expect(raw).toEqual(rawDeviceConfig());
  });

  it.each(['authentication', 'routing'])('%s absent → required', (member) => {
    const raw = rawServerConfig();
    delete raw[member];
    expect(() => parseAppConfig(raw)).toThrow(`config.${member}: is required`);
  });

  it('unknown member at the root → refused by name', () => {
    expect(() => parseAppConfig({ ...rawServerConfig(), secret: 'x' })).toThrow('config.secret: is not a known field');
  });

  it('params with prototype names → kept through storing and reading, __proto__ left out', () => {
    const params = '{"__proto__":{"a":1},"constructor":{"prototype":{"b":[{"__proto__":1,"toString":2}]}}}';
    const raw = replaced(rawDeviceConfig(), ['endpoints', 'summarize', 'params'], JSON.parse(params));
    const config = parseAppConfig(raw);
    const stored = parseAppConfig(JSON.parse(JSON.stringify(config)));
    for (const { endpoints } of [config, stored]) {
      expect(JSON.stringify(endpoints.summarize)).toContain('{"constructor":{"prototype":{"b":[{"toString":2}]}}}');
    }
    expect(JSON.stringify(stored)).toBe(JSON.stringify(config));
  });

  it('a stored configuration that passed through JSON → lookups still see own members only', () => {
    const stored: unknown = JSON.parse(JSON.stringify(parseAppConfig(rawSelection({}))));
    expect(parseAppConfig(stored).endpoints.toString).toBeUndefined();
  });
});

describe('parseAppConfig: trust', () => {
  const issuer = ['authentication', 'end_user', 'issuer', 'jwks_url'];
  const raw = replaced(rawDeviceConfig(), issuer, 'http://keys.internal:9000/jwks');

  it('key set over http → refused unless the caller trusts the host', () => {
    expect(() => parseAppConfig(raw)).toThrow(`config.${issuer.join('.')}: must use https`);
    expect(() => parseAppConfig(raw, { allowsHttp: (host) => host === 'keys.internal:9000' })).not.toThrow();
  });
});

describe('parseAppConfig: per-user limits', () => {
  const perUser = { per_user: { requests: { per_minute: 5 } } };

  it('application without user identity → refused', () => {
    expect(() => parseAppConfig({ ...rawServerConfig(), limits: perUser })).toThrow(/^config\.limits\.per_user: needs/);
  });

  it('application without user identity, a budget of zero → refused too', () => {
    const limits = { per_user: { spending: { monthly_usd: 0 } } };
    expect(() => parseAppConfig({ ...rawServerConfig(), limits })).toThrow(/^config\.limits\.per_user: needs/);
  });

  it('application without user identity, all null → accepted', () => {
    const limits = { per_user: { requests: { per_minute: null, per_day: null }, spending: { monthly_usd: null } } };
    expect(parseAppConfig({ ...rawServerConfig(), limits }).limits.per_user.requests.per_minute).toBeNull();
  });

  it('application whose backend names the user → accepted', () => {
    const authentication = { type: 'api_key', end_user: { source: 'header', header: 'x-user' } };
    const config = parseAppConfig({ ...rawServerConfig(), authentication, limits: perUser });
    expect(config.limits.per_user.requests).toEqual({ per_minute: 5, per_day: null });
  });
});

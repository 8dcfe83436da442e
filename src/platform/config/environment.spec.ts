import { inspect } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { EnvironmentError, loadEnvironment, processEnvironment } from './environment.js';
import { declaredSettings } from './setting.js';

const BOOTSTRAP_KEY = `gw_mgmt_${'k'.repeat(22)}`;
const DATABASE_URL = 'postgres://gateway:db-password@db.internal/gateway';

function problemsOf(source: Record<string, string>): string[] {
  try {
    loadEnvironment(source);
  } catch (error) {
    if (error instanceof EnvironmentError) return error.message.split('\n');
    throw error;
  }
  throw new Error('a problem was expected');
}

describe('environment', () => {
  it('nothing set → every default', () => {
    expect(loadEnvironment({})).toMatchObject({
      HOST: '127.0.0.1',
      PORT: 8080,
      PUBLIC_URL: undefined,
      DATA_DIR: './.data',
      DATABASE_URL: undefined,
      DATABASE_POOL_SIZE: 10,
      DATABASE_TIMEOUT_MS: 1_900,
      DATABASE_WAIT_SECONDS: 60,
      REDIS_URL: undefined,
      BOOTSTRAP_MANAGEMENT_KEY: undefined,
      TRUSTED_PROXIES: [],
      PROVIDER_TTFB_TIMEOUT_SECONDS: 120,
      DRAIN_TIMEOUT_SECONDS: 30,
      ABORT_DRAIN_SECONDS: 30,
      LOG_LEVEL: 'info',
    });
    expect(loadEnvironment({}).TRUSTED_PRIVATE_HOSTS.allowsHost('127.0.0.1')).toBe(false);
  });

  it('declared variables → read; undeclared ones → ignored', () => {
    const environment = loadEnvironment({
      PORT: '0',
      PUBLIC_URL: 'https://gateway.example.com/',
      TRUSTED_PRIVATE_HOSTS: '127.0.0.1, models.internal:8000',
      PROVIDER_TTFB_TIMEOUT_SECONDS: '0.5',
      LOG_LEVEL: 'debug',
      PATH: '/usr/bin',
    });
    expect(environment).toMatchObject({
      PORT: 0,
      PUBLIC_URL: 'https://gateway.example.com',
      PROVIDER_TTFB_TIMEOUT_SECONDS: 0.5,
      LOG_LEVEL: 'debug',
    });
    expect(environment.TRUSTED_PRIVATE_HOSTS.allowsHost('models.internal:8000')).toBe(true);
    expect(environment).not.toHaveProperty('PATH');
  });

  it.each(['', '   '])('a variable set to "%s" → counts as not set', (value) => {
    expect(loadEnvironment({ PORT: value, DATABASE_URL: value })).toMatchObject({
      PORT: 8080,
      DATABASE_URL: undefined,
    });
  });

  it('several wrong variables → all named with their rule, one per line, without their values', () => {
    const problems = problemsOf({
      PORT: '99999-private',
      DATABASE_URL: 'mysql://u:private@db/gw',
      BOOTSTRAP_MANAGEMENT_KEY: 'gw_mgmt_private',
      TRUSTED_PRIVATE_HOSTS: 'http://private/',
      LOG_LEVEL: 'private',
      HOST: 'right',
    });
    expect(problems).toEqual([
      'PORT must be a whole number from 0 to 65535',
      'DATABASE_URL must be a postgres:// connection string',
      'BOOTSTRAP_MANAGEMENT_KEY must have at least 22 characters after gw_mgmt_',
      'TRUSTED_PRIVATE_HOSTS must be hosts, addresses or CIDR ranges separated by commas',
      'LOG_LEVEL must be one of debug, info, warn, error',
    ]);
    expect(problems.join()).not.toContain('private');
  });

  it.each([
    ['GOOGLE_CLIENT_ID', 'client'],
    ['GOOGLE_CLIENT_SECRET', 'client-secret'],
  ])('an incomplete Google client, %s → both are named', (name, value) => {
    expect(problemsOf({ [name]: value })).toEqual(['GOOGLE_CLIENT_ID and GOOGLE_CLIENT_SECRET must be set together']);
    expect(loadEnvironment({ GOOGLE_CLIENT_ID: 'client', GOOGLE_CLIENT_SECRET: 'client-secret' })).toBeDefined();
  });

  it('printing the settings → shows no secret', () => {
    const environment = loadEnvironment({
      DATABASE_URL,
      REDIS_URL: 'redis://:redis-password@cache.internal',
      BOOTSTRAP_MANAGEMENT_KEY: BOOTSTRAP_KEY,
      HTTPS_PROXY: 'http://operator:proxy-password@proxy.internal:3128',
    });
    for (const printed of [inspect(environment, { depth: 5 }), JSON.stringify(environment)]) {
      expect(printed).not.toContain('db-password');
      expect(printed).not.toContain('redis-password');
      expect(printed).not.toContain('proxy-password');
      expect(printed).not.toContain(btoa('operator:proxy-password'));
      expect(printed).not.toContain(BOOTSTRAP_KEY);
    }
    expect(environment.DATABASE_URL?.reveal()).toBe(DATABASE_URL);
    expect(environment.BOOTSTRAP_MANAGEMENT_KEY?.reveal()).toBe(BOOTSTRAP_KEY);
  });

  it.each(['HTTPS_PROXY', 'HTTP_PROXY', 'NO_PROXY'] as const)(
    '%s in lower and upper case → lower case is read, unless it is empty',
    (name) => {
      const lower = name.toLowerCase();
      const [one, other] = ['http://one.example:1', 'http://other.example:2'].map((url) =>
        name === 'NO_PROXY' ? new URL(url).host : url,
      );
      const read = (source: Record<string, string | undefined>) => inspect(loadEnvironment(source)[name], { depth: 5 });
      expect(read({ [lower]: one })).toContain('one.example');
      expect(read({ [name]: other })).toContain('other.example');
      expect(read({ [lower]: one, [name]: other })).toContain('one.example');
      expect(read({ [lower]: ' ', [name]: other })).toContain('other.example');
    },
  );

  it('wrong proxies → names the variable that was read, without its value', () => {
    expect(problemsOf({ https_proxy: 'socks5://u:private@p', HTTP_PROXY: 'private:1', NO_PROXY: 'private/1' })).toEqual(
      [
        'https_proxy must be the address of a proxy such as http://proxy.example.com:3128',
        'HTTP_PROXY must be the address of a proxy such as http://proxy.example.com:3128',
        'NO_PROXY must be * or hosts, addresses or CIDR ranges separated by commas',
      ],
    );
  });

  it('the settings → cannot be changed after the start', () => {
    const environment = loadEnvironment({});
    expect(Reflect.set(environment, 'PORT', 1)).toBe(false);
    expect(environment.PORT).toBe(8080);
  });

  it('every declared variable → a property with a description and a default for the documentation', () => {
    const environment = loadEnvironment({});
    expect(Object.keys(environment)).toEqual(declaredSettings().map(({ name }) => name));
    for (const { name, description, fallback, fallbackText } of declaredSettings()) {
      expect(name).toMatch(/^[A-Z][A-Z_]*$/);
      expect(description).toMatch(/[a-z].*\.$/);
      expect(fallback ?? fallbackText).toBeDefined();
    }
  });

  it('variables of the process itself → as Node reports them', () => {
    expect(processEnvironment().PATH).toBe(process.env.PATH);
  });
});

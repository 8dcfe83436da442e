import { Secret } from '../../common/log/secret.js';
import { type AddressRange, parseRange } from '../outbound/address.rules.js';
import { isMetadataHost } from '../outbound/metadata-host.rules.js';
import { parseRedisAddress, REDIS_ADDRESS_FORM } from '../redis/redis-address.rules.js';

/** Reads one variable's text; returns the value or throws a `SettingProblem` that never repeats the text. */
export type SettingParser<T> = (text: string) => T;

/** What is wrong with a variable, in words that can stand in a log: it never holds the value. */
export class SettingProblem extends Error {}

export interface SettingOptions<T> {
  /** For `docs/configuration.md`: what it does, its unit, and what happens when it is wrong. */
  readonly description: string;
  readonly parse: SettingParser<T>;
  /** Used when the variable is absent or empty. */
  readonly fallback?: T;
  /** How the documentation writes the default, where the value itself would not say it. */
  readonly fallbackText?: string;
}

interface SettingDeclaration extends SettingOptions<unknown> {
  readonly name: string;
}

const declarations: SettingDeclaration[] = [];

/** Declares one environment variable; the property's name is the variable's name. */
export function Setting<T>(options: SettingOptions<T>): PropertyDecorator {
  return (_target, property) => {
    declarations.push({ ...options, name: String(property) });
  };
}

/** Every declared variable, in order of declaration; read by the loader and by the documentation generator. */
export function declaredSettings(): readonly SettingDeclaration[] {
  return declarations;
}

/** Any text, surrounding blanks removed. */
export function text(): SettingParser<string> {
  return (value) => value.trim();
}

/** The form of a secret that begins alike each time; the lengths are those of what follows, in characters. */
interface BrandedForm {
  readonly brand: string;
  readonly min: number;
  readonly max: number;
}

/** A secret that begins with a brand, followed by letters, digits, `_` and `-`. Names the first rule that is broken. */
export function brandedSecret({ brand, min, max }: BrandedForm): SettingParser<Secret> {
  return (value) => {
    const secret = value.trim();
    if (!secret.startsWith(brand)) throw new SettingProblem(`must begin with ${brand}`);
    const rest = secret.slice(brand.length);
    if (!/^[A-Za-z0-9_-]*$/.test(rest)) {
      throw new SettingProblem(`must have only letters, digits, "_" and "-" after ${brand}`);
    }
    if (rest.length < min) throw new SettingProblem(`must have at least ${min} characters after ${brand}`);
    if (rest.length > max) throw new SettingProblem(`must have at most ${max} characters after ${brand}`);
    return new Secret(secret);
  };
}

/** A secret that clients send as a bearer token: long enough, and of what a header carries in one piece. */
export function bearerToken(minBytes: number): SettingParser<Secret> {
  const read = secretOfAtLeast(minBytes);
  return (value) => {
    const secret = read(value);
    if (/^[\x21-\x7e]+$/.test(secret.reveal())) return secret;
    throw new SettingProblem('must be printable ASCII without spaces, as a header carries it');
  };
}

/** A secret of any form that is long enough to withstand guessing. */
export function secretOfAtLeast(bytes: number): SettingParser<Secret> {
  return (value) => {
    const secret = value.trim();
    if (Buffer.byteLength(secret) < bytes) throw new SettingProblem(`must be at least ${bytes} bytes`);
    return new Secret(secret);
  };
}

/** A whole number between two bounds, both allowed. */
export function int(min: number, max: number): SettingParser<number> {
  return (value) => {
    const number = Number(value);
    if (!/^\d+$/.test(value.trim()) || number < min || number > max) {
      throw new SettingProblem(`must be a whole number from ${min} to ${max}`);
    }
    return number;
  };
}

/** A number above zero, fractions allowed. */
export function positive(max: number): SettingParser<number> {
  return (value) => {
    const number = Number(value);
    if (!/^\d+(\.\d+)?$/.test(value.trim()) || number <= 0 || number > max) {
      throw new SettingProblem(`must be a number above 0 and at most ${max}`);
    }
    return number;
  };
}

/** Yes or no. */
export function flag(): SettingParser<boolean> {
  return (value) => {
    const word = value.trim();
    if (word !== 'true' && word !== 'false') throw new SettingProblem('must be true or false');
    return word === 'true';
  };
}

/** One of a closed list of words. */
export function oneOf<const T extends string>(words: readonly T[]): SettingParser<T> {
  return (value) => {
    const word = words.find((candidate) => candidate === value.trim());
    if (word === undefined) throw new SettingProblem(`must be one of ${words.join(', ')}`);
    return word;
  };
}

/** An http or https origin without path, query, credentials or trailing slash. */
export function origin(): SettingParser<string> {
  return (value) => {
    const url = URL.parse(value.trim());
    if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
      throw new SettingProblem('must be an http or https origin such as https://gateway.example.com');
    }
    if (url.pathname !== '/' || url.search || url.hash || url.username || url.password) {
      throw new SettingProblem('must be an origin only: no path, query, fragment or credentials');
    }
    refuseMetadata(url);
    return url.origin;
  };
}

/** An http or https address that paths are appended to; answered with exactly one slash at its end. */
export function baseAddress(): SettingParser<string> {
  return (value) => {
    const url = URL.parse(value.trim());
    if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
      throw new SettingProblem('must be an http or https address such as https://relay.example.com/v1/');
    }
    if (url.search || url.hash || url.username || url.password) {
      throw new SettingProblem('must not hold a query, fragment or credentials');
    }
    refuseMetadata(url);
    return `${url.origin}${url.pathname.replace(/\/+$/, '')}/`;
  };
}

function refuseMetadata({ hostname }: URL): void {
  if (isMetadataHost(hostname)) throw new SettingProblem('must not be a cloud metadata address');
}

/** An http or https address of a page, for people to follow. */
export function webAddress(): SettingParser<string> {
  return (value) => {
    const url = URL.parse(value.trim());
    const isWeb = url?.protocol === 'https:' || url?.protocol === 'http:';
    if (!url || !isWeb || url.username || url.password) {
      throw new SettingProblem('must be an http or https address such as https://example.com/terms');
    }
    return url.href;
  };
}

/** A Postgres connection string; it may hold a password, so it is a secret. */
export function postgresUrl(): SettingParser<Secret> {
  return (value) => {
    const url = URL.parse(value.trim());
    if (!url || (url.protocol !== 'postgres:' && url.protocol !== 'postgresql:')) {
      throw new SettingProblem('must be a postgres:// connection string');
    }
    return new Secret(value.trim());
  };
}

/** The address of Redis in one of its forms; it may hold a password, so it is a secret. */
export function redisUrl(): SettingParser<Secret> {
  return (value) => {
    if (parseRedisAddress(value) === undefined) throw new SettingProblem(`must be ${REDIS_ADDRESS_FORM}`);
    return new Secret(value.trim());
  };
}

/** Addresses and CIDR ranges, separated by commas or white space. Never `/0`: that would trust everybody. */
export function addressRanges(): SettingParser<readonly AddressRange[]> {
  return (value) =>
    value
      .split(/[\s,]+/)
      .filter((entry) => entry !== '')
      .map((entry) => {
        const range = parseRange(entry);
        if (range === undefined || range[1] === 0) {
          throw new SettingProblem('must be addresses or CIDR ranges separated by commas, none of them /0');
        }
        return range;
      });
}

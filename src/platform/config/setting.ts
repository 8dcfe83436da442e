import { Secret } from '../../common/log/secret.js';
import { type AddressRange, isMetadataHost, parseRange } from '../outbound/address.rules.js';
import { parseRedisAddress, REDIS_ADDRESS_FORM } from '../redis/redis-address.rules.js';

/** Parses one variable; returns the value or throws a `SettingProblem` that does not repeat the text. */
export type SettingParser<T> = (text: string) => T;

/** A validation message that can be logged: it never contains the value. */
export class SettingProblem extends Error {}

export interface SettingOptions<T> {
  /** For `docs/configuration.md`: purpose, unit, and the effect of an invalid value. */
  readonly description: string;
  readonly parse: SettingParser<T>;
  /** Used when the variable is absent or empty. */
  readonly fallback?: T;
  /** The default as the documentation shows it, where the value is not readable. */
  readonly fallbackText?: string;
  /** Whether the name in lower case is read first, as other programs do. */
  readonly isLowerCaseFirst?: boolean;
}

interface SettingDeclaration extends SettingOptions<unknown> {
  readonly name: string;
}

const declarations: SettingDeclaration[] = [];

/** Declares one environment variable; the property name is the variable name. */
export function Setting<T>(options: SettingOptions<T>): PropertyDecorator {
  return (_target, property) => {
    declarations.push({ ...options, name: String(property) });
  };
}

/** Every declared variable in order of declaration, for the loader and the documentation generator. */
export function declaredSettings(): readonly SettingDeclaration[] {
  return declarations;
}

/** Any text, trimmed. */
export function text(): SettingParser<string> {
  return (value) => value.trim();
}

/** The form of a secret with a fixed prefix; lengths in characters exclude the prefix. */
interface BrandedForm {
  readonly brand: string;
  readonly min: number;
  readonly max: number;
}

/** A secret with a fixed prefix, followed by letters, digits, `_` and `-`. The error names the first violated rule. */
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

/** A bearer token: a minimum length, and only characters that a header value allows. */
export function bearerToken(minBytes: number): SettingParser<Secret> {
  const read = secretOfAtLeast(minBytes);
  return (value) => {
    const secret = read(value);
    if (/^[\x21-\x7e]+$/.test(secret.reveal())) return secret;
    throw new SettingProblem('must be printable ASCII without spaces, as a header carries it');
  };
}

/** A secret of any form with a minimum length. */
export function secretOfAtLeast(bytes: number): SettingParser<Secret> {
  return (value) => {
    const secret = value.trim();
    if (Buffer.byteLength(secret) < bytes) throw new SettingProblem(`must be at least ${bytes} bytes`);
    return new Secret(secret);
  };
}

/** An integer between two inclusive bounds. */
export function int(min: number, max: number): SettingParser<number> {
  return (value) => {
    const number = Number(value);
    if (!/^\d+$/.test(value.trim()) || number < min || number > max) {
      throw new SettingProblem(`must be a whole number from ${min} to ${max}`);
    }
    return number;
  };
}

/** A number above zero; fractions are allowed. */
export function positive(max: number): SettingParser<number> {
  return (value) => {
    const number = Number(value);
    if (!/^\d+(\.\d+)?$/.test(value.trim()) || number <= 0 || number > max) {
      throw new SettingProblem(`must be a number above 0 and at most ${max}`);
    }
    return number;
  };
}

export function flag(): SettingParser<boolean> {
  return (value) => {
    const word = value.trim();
    if (word !== 'true' && word !== 'false') throw new SettingProblem('must be true or false');
    return word === 'true';
  };
}

export function oneOf<const T extends string>(words: readonly T[]): SettingParser<T> {
  return (value) => {
    const word = words.find((candidate) => candidate === value.trim());
    if (word === undefined) throw new SettingProblem(`must be one of ${words.join(', ')}`);
    return word;
  };
}

/** Source: RFC 1123 2.1. */
const HOST_NAME = /^(?!.*\.\d+$)[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*$/;

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

/** Origins, separated by commas. */
export function origins(): SettingParser<readonly string[]> {
  const parse = origin();
  return (value) =>
    value
      .split(',')
      .map((entry) => entry.trim())
      .filter((entry) => entry !== '')
      .map(parse);
}

/** Names of hosts, separated by commas, in lower case. */
export function hostNames(): SettingParser<readonly string[]> {
  return (raw) => {
    const names = raw.split(',').map((name) => name.trim().toLowerCase());
    if (!names.every((name) => HOST_NAME.test(name)))
      throw new SettingProblem('must be host names separated by commas');
    return names;
  };
}

/** An http or https base URL, normalized to exactly one trailing slash. */
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

/** An http or https URL of a web page. */
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

/** A Postgres connection string; a secret, because it may contain a password. */
export function postgresUrl(): SettingParser<Secret> {
  return (value) => {
    const url = URL.parse(value.trim());
    if (!url || (url.protocol !== 'postgres:' && url.protocol !== 'postgresql:')) {
      throw new SettingProblem('must be a postgres:// connection string');
    }
    return new Secret(value.trim());
  };
}

/** A Redis address in any supported form; a secret, because it may contain a password. */
export function redisUrl(): SettingParser<Secret> {
  return (value) => {
    if (parseRedisAddress(value) === undefined) throw new SettingProblem(`must be ${REDIS_ADDRESS_FORM}`);
    return new Secret(value.trim());
  };
}

/** Addresses and CIDR ranges, separated by commas or white space. `/0` is refused: it would trust every address. */
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

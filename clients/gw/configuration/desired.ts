import { isAbsolute } from 'node:path';
import type { AppConfig, DesiredApp, DesiredProvider, SecretReference } from './configuration-files.js';
import { Members, type PlaceOf, tableAt } from './members.js';

/** A handle of an application, or a slug of a provider. */
const HANDLE = [/^[a-z0-9][a-z0-9-]{0,62}$/, 'must be 1 to 63 lower-case letters, digits and dashes'] as const;
const VARIABLE = [/^[A-Za-z_]\w*$/, 'must be the name of an environment variable'] as const;
/** Variables that hold keys of the gateway itself: a provider must not get them. */
const OWN_KEYS = /^GW_(?:MANAGEMENT|APP)_KEY$/i;

/** An application as a file describes it. @throws Failure with all problems. */
export function appFrom(value: unknown, at: PlaceOf): DesiredApp {
  const reader = new Members(at, tableAt(at, value));
  reader.allow(['name', 'handle', 'status', 'config', 'moved']);
  const desired = {
    ...{ handle: reader.text('handle', HANDLE), name: reader.text('name'), status: reader.status() },
    ...{ config: reader.object('config') as unknown as AppConfig, movedFrom: movedFrom(reader, HANDLE) },
  };
  reader.end();
  return desired;
}

/** A provider as a file describes it. @throws Failure with all problems. */
export function providerFrom(value: unknown, at: PlaceOf): DesiredProvider {
  const reader = new Members(at, tableAt(at, value));
  reader.allow([
    'slug',
    'type',
    'name',
    'status',
    'baseUrl',
    'providerGateway',
    'gatewayRoute',
    'pricing',
    'secret',
    'moved',
  ]);
  const desired = {
    ...{ slug: reader.text('slug'), type: reader.text('type'), name: reader.text('name'), status: reader.status() },
    ...{ baseUrl: reader.optionalText('baseUrl'), providerGateway: reader.optionalText('providerGateway') },
    ...{ gatewayRoute: reader.optionalObject('gatewayRoute'), pricing: reader.optionalObject('pricing') },
    ...{ secret: secretFrom(value, reader), movedFrom: movedFrom(reader, HANDLE) },
  };
  reader.end();
  return desired;
}

/** Its previous names, in `moved.from`. */
function movedFrom(reader: Members, form: readonly [RegExp, string]): readonly string[] {
  const moved = reader.inner('moved', (inner) => {
    inner.allow(['from']);
    return inner.texts('from', form);
  });
  return moved ?? [];
}

/** The place of a key. A key itself is refused, and not printed. */
function secretFrom(value: unknown, reader: Members): SecretReference | null {
  const { secret } = Object(value);
  if (typeof secret !== 'object') {
    if (secret !== undefined) {
      reader.problem('secret', 'names where the key is, never the key itself: { env: NAME } or { file: /path }');
    }
    return null;
  }
  return reader.inner('secret', (inner) => {
    inner.allow(['env', 'file']);
    const reference = { env: inner.optionalText('env', VARIABLE), file: inner.optionalText('file') };
    if (inner.has('env') === inner.has('file')) inner.problem('', 'names either env or file');
    if (reference.env !== null && OWN_KEYS.test(reference.env)) inner.problem('env', 'is a key of the gateway itself');
    if (reference.file !== null && !isAbsolute(reference.file)) {
      inner.problem('file', 'must be an absolute path, such as /run/secrets/openai');
    }
    return reference;
  });
}

import type { ReadableApp } from '../../app-directory/app-snapshot.js';
import { isJsonObject, type JsonObject } from '../../common/json-object.js';
import { bareModelName } from '../../pricing/model-alias.rules.js';
import type { ProviderInstance } from '../../providers/provider-instance.js';
import { isKeptModel } from '../body/kept-objects.rules.js';
import { type AllowedProvider, inBodySpelling, isAllowed, isNamed } from '../model-choice.rules.js';

/** Names as clients send them. */
export interface UsableModels {
  /** Whether a call with this name passes the application's model list and has a price or needs none. */
  has(name: string): boolean;
  /** Usable names that are sent as another model, with that model. */
  readonly rewritten: ReadonlyMap<string, string>;
}

/**
 * The models that an application may use at a provider.
 *
 * @param isPriced whether the provider's calls of a model have a price today.
 * Source: docs/reference/application-api.md#model-lists.
 */
export function usableModels(
  app: ReadableApp,
  allowed: AllowedProvider,
  isPriced: (model: string) => boolean,
): UsableModels {
  const { route } = allowed.provider;
  const needsNoPrice = route.apiStyles.some((style) => route.reportsCost(style));
  const has = (name: string) => {
    if (!isAllowed(allowed, name) || (isKeptModel(name) && !isNamed(allowed, app, name))) return false;
    return needsNoPrice || isPriced(app.modelRewrites.get(name) ?? name);
  };
  return { has, rewritten: new Map([...app.modelRewrites].filter(([name]) => has(name))) };
}

/** The member with the entries of a provider's list; undefined where the list is the document itself. */
const LIST_MEMBERS = ['data', 'models'] as const;

/** A provider's list of models, read. */
export interface ModelList {
  readonly entries: readonly JsonObject[];
  /** The same document with other entries. */
  withEntries(entries: readonly JsonObject[]): unknown;
}

/** @param document the provider's answer, parsed. @returns `undefined` where it is not a list of models. */
export function readModelList(document: unknown): ModelList | undefined {
  if (Array.isArray(document)) return { entries: document.filter(isJsonObject), withEntries: (entries) => entries };
  if (!isJsonObject(document)) return undefined;
  for (const member of LIST_MEMBERS) {
    const list = document[member];
    if (Array.isArray(list)) {
      return { entries: list.filter(isJsonObject), withEntries: (entries) => ({ ...document, [member]: entries }) };
    }
  }
  return undefined;
}

/**
 * What an application may use of a provider's list of models, in the provider's form. A name that is sent as another
 * model is listed next to that model, with the same description.
 *
 * @returns a document to send as JSON.
 */
export function usablePart(list: ModelList, usable: UsableModels, provider: ProviderInstance): unknown {
  const named = list.entries.flatMap((entry) => {
    const name = clientName(entry, provider);
    return name === undefined ? [] : [{ name, entry: renamed(entry, name) }];
  });
  const listed = new Set(named.map(({ name }) => name));
  const aliases = Map.groupBy(usable.rewritten.keys(), (alias) => usable.rewritten.get(alias));
  const entries = named.flatMap(({ name, entry }) => [
    ...(usable.has(name) ? [entry] : []),
    ...(aliases.get(name) ?? []).filter((alias) => !listed.has(alias)).map((alias) => renamed(entry, alias)),
  ]);
  return list.withEntries(entries);
}

/** The name with which a client calls a listed model; undefined for a model that the route does not reach. */
function clientName(entry: JsonObject, { type, route: { modelPrefix } }: ProviderInstance): string | undefined {
  const listed = entry.id ?? entry.name;
  if (typeof listed !== 'string') return undefined;
  const wire = bareModelName(type, listed);
  if (modelPrefix === null) return wire;
  return wire.startsWith(modelPrefix) ? wire.slice(modelPrefix.length) : undefined;
}

/** In the spelling of the entry. */
function renamed(entry: JsonObject, name: string): JsonObject {
  const member = typeof entry.id === 'string' ? 'id' : 'name';
  return { ...entry, [member]: inBodySpelling(String(entry[member]), name) };
}

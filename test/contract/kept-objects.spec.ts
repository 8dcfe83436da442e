import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { REQUEST_NAMES } from '../../src/proxy/json/checked-members.js';
import { ITEM_CONTENT, REFERENCE_TYPES } from '../../src/upstreams/kept-objects.js';
import { namesModels } from '../../src/upstreams/tool-models.js';
import { type DeclaredMember, declaredMembers } from './kept-objects/declared-members.js';
import { EXEMPT_IDS, EXEMPT_MEMBERS, EXEMPT_MODELS } from './kept-objects/exempt-members.js';

const REQUESTS = join(import.meta.dirname, 'kept-objects', 'requests.ts');
const NEW_DECLARATIONS = join(import.meta.dirname, 'kept-objects', 'new-declarations.ts');

/** Names that can stand for an object at a provider, detach work, multiply cost, or hide usage. */
const SUSPECT = new RegExp(
  [
    '(?:^|_)(?:ids?|uris?|stores?|containers?|skills?|prompts?|presets?|caches?|cached|files?|references?)(?:_|$)',
    '(?:^|_)(?:conversations?|batch(?:es)?|corpus|corpora|connectors?|tunnels?|threads?|engines?|templates?)(?:_|$)',
    '(?:^|_)(?:profiles?|workspaces?|agents?|assistants?|sessions?|interactions?|voices?|masks?|datasets?)(?:_|$)',
    '(?:^|_)(?:secrets?|credentials?|accounts?|tokens?|fallbacks?|models?|background|deferred|webhooks?)(?:_|$)',
    '(?:^|_)(?:tiers?|speed|geo|best|choices|candidates?|count|usage|modalities|continuation|retention)(?:_|$)',
    '^(?:n|svg|datastore|routing_config|stream_options|number_of_.*|previous_.*)$',
  ].join('|'),
);

function snake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function isJudged(name: string): boolean {
  const bytes = Buffer.from(`"${name}"`);
  return REQUEST_NAMES.find(bytes, 1, bytes.length - 1, false) !== undefined;
}

/** `Owner.member` of those that are neither in the table nor in the list of exemptions. */
function unjudged(members: readonly DeclaredMember[]): string[] {
  const open = members.filter(({ owner, name, types }) => {
    if (name === 'id') return !types.every(isKnownItem) && EXEMPT_IDS[owner] === undefined;
    return SUSPECT.test(snake(name)) && !isJudged(name) && EXEMPT_MEMBERS[name] === undefined;
  });
  return [...new Set(open.map(({ owner, name }) => `${owner}.${name}`))].sort();
}

/** An object without a type is not an item of an input. */
function isKnownItem(type: string): boolean {
  return ITEM_CONTENT.has(type) || REFERENCE_TYPES.has(type);
}

describe('kept objects: what the request types of the official SDKs declare', () => {
  let members: readonly DeclaredMember[];

  beforeAll(() => {
    members = declaredMembers(REQUESTS);
  });

  it('the declarations are read → thousands of fields, from all three SDKs', () => {
    expect(members.length).toBeGreaterThan(1500);
    const names = new Set(members.map(({ owner, name }) => `${owner}.${name}`));
    expect(names).toContain('ItemReference.id');
    expect(names).toContain('FileImageSource.file_id');
    expect(names).toContain('FileData.fileUri');
  });

  it('every field that can name a kept object → validated by the table, or exempt with a reason', () => {
    expect(unjudged(members)).toEqual([]);
  });

  it('every field with “model” in its name → treated as a model name in tools, or exempt with a reason', () => {
    const suspects = members.filter(({ name }) => /model(?!ity|ities)/i.test(name));
    const open = suspects.filter(({ name }) => !namesModels(name) && !isJudged(name) && !(name in EXEMPT_MODELS));
    expect([...new Set(open.map(({ owner, name }) => `${owner}.${name}`))]).toEqual([]);
    const names = new Set(suspects.map(({ name }) => name));
    expect(Object.keys(EXEMPT_MODELS).filter((name) => !names.has(name) || namesModels(name))).toEqual([]);
  });

  it('every exemption → for a field that is declared and not validated', () => {
    const names = new Set(members.map(({ name }) => name));
    const stale = Object.keys(EXEMPT_MEMBERS).filter((name) => !names.has(name) || isJudged(name));
    const owners = new Set(members.filter(({ name }) => name === 'id').map(({ owner }) => owner));
    expect([stale, Object.keys(EXEMPT_IDS).filter((owner) => !owners.has(owner))]).toEqual([[], []]);
  });

  it('such fields without a decision → found, at any depth and in either spelling', () => {
    expect(unjudged(declaredMembers(NEW_DECLARATIONS))).toEqual([
      'Grounding.knowledgeStore',
      'NewCall.id',
      'NewParams.recording_id',
      'NewParams.webhook',
    ]);
  });
});

import {
  ADDRESS_HOLDERS,
  ADDRESSES,
  FREE_LISTS,
  FREE_OBJECTS,
  ITEM_CONTENT,
  KEPT_ANYWHERE,
  KEPT_AT_ROOT,
  KEPT_BY_ID,
  KEPT_SETTINGS,
  OWNED_ANYWHERE,
  OWNED_LISTS,
  spellings,
} from '../../upstreams/kept-objects.js';

/** Objects with recorded members: the value of the holder, or the entries of its list. */
export interface HeldObjects {
  readonly members: readonly string[];
  /** Whether the holder must be a member of the root object or may be at any depth. */
  readonly place: 'root' | 'anywhere';
}

/** Member names that policy validates, and where. */
export interface CheckedMemberList {
  /** Members of the root object. */
  readonly root: readonly string[];
  /** Members of an object that is a root member: parent name → names. Parents are also recorded at the root. */
  readonly nested: Readonly<Record<string, readonly string[]>>;
  /** Names recorded at any depth, when their value is a string or an array. */
  readonly deep: readonly string[];
  /** Names at any depth that contain or reference an image, a recording or a document. */
  readonly media: readonly string[];
  /** Deep names whose value may also be an object. */
  readonly settings?: readonly string[];
  /** Names at any depth whose string is an address or content. */
  readonly addresses?: readonly string[];
  /** Names under which `url` is such an address. */
  readonly addressHolders?: readonly string[];
  /** By the holder's name. */
  readonly objects?: ReadonlyMap<string, HeldObjects>;
  /** Members whose presence makes the scan record such an object. */
  readonly ids?: readonly string[];
  /** Names of objects (below the root object) and of lists in which deep names are ignored. */
  readonly freeObjects?: readonly string[];
  readonly freeLists?: readonly string[];
}

/** One listed name with its places. */
export interface CheckedMember {
  readonly name: string;
  readonly root: boolean;
  readonly parents: ReadonlySet<string>;
  readonly deep: boolean;
  readonly isMedia: boolean;
  readonly isSetting: boolean;
  readonly isAddress: boolean;
  readonly holdsAddress: boolean;
  /** Where objects under it are recorded; undefined: nowhere. */
  readonly holdsObjects: HeldObjects['place'] | undefined;
  readonly isId: boolean;
  readonly isFreeObject: boolean;
  readonly isFreeList: boolean;
}

/** A key of the body that equals a listed name, exactly or except for letter case. */
export interface FoundName {
  readonly checked: CheckedMember;
  /** The key as sent, unescaped. */
  readonly written: string;
}

const MAX_NAME_LENGTH = 63;
/** A code unit takes at most six bytes in JSON text (a `\uXXXX` escape). */
const MAX_BYTES_PER_UNIT = 6;

/**
 * Folds letter case as lenient decoders do: upper case first, because some decoders treat the long s and the Kelvin
 * sign as `s` and `k`.
 */
function foldCase(text: string): string {
  return text.toUpperCase().toLowerCase();
}

function slot(length: number, firstByte: number): number {
  return (length << 5) | (firstByte & 31);
}

function isAscii(bytes: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    if ((bytes[at] as number) >= 0x80) return false;
  }
  return true;
}

function isWrittenAt(bytes: Buffer, start: number, name: string): boolean {
  for (let at = 0; at < name.length; at++) {
    if (bytes[start + at] !== name.charCodeAt(at)) return false;
  }
  return true;
}

function allNames(list: CheckedMemberList): ReadonlySet<string> {
  const { addresses = [], addressHolders = [], objects = new Map<string, HeldObjects>() } = list;
  const nested = Object.entries(list.nested).flatMap(([parent, names]) => [parent, ...names]);
  const held = [...objects].flatMap(([holder, { members }]) => [holder, ...members]);
  const free = [...(list.freeObjects ?? []), ...(list.freeLists ?? [])];
  return new Set([
    ...[...list.root, ...nested, ...list.deep, ...(list.settings ?? []), ...list.media],
    ...[...addresses, ...addressHolders, ...held, ...(list.ids ?? []), ...free],
  ]);
}

function checkedMember(name: string, list: CheckedMemberList): CheckedMember {
  const has = (names: readonly string[] | undefined) => names?.includes(name) ?? false;
  const nestedIn = Object.keys(list.nested).filter((parent) => has(list.nested[parent]));
  const heldBy = [...(list.objects ?? [])].filter(([, { members }]) => has(members)).map(([holder]) => holder);
  const isAddress = has(list.addresses);
  const holdsObjects = list.objects?.get(name)?.place;
  return {
    name,
    root: has(list.root) || name in list.nested,
    parents: new Set([...nestedIn, ...heldBy]),
    deep: has(list.deep) || has(list.media) || has(list.settings) || isAddress,
    isMedia: has(list.media),
    isSetting: has(list.settings),
    isAddress,
    holdsAddress: has(list.addressHolders),
    holdsObjects,
    isId: has(list.ids),
    isFreeObject: has(list.freeObjects),
    isFreeList: has(list.freeLists),
  };
}

/**
 * A compiled list of names: built once per list, looked up for every key. Source:
 * docs/reference/security.md#checked-and-sent-bytes, docs/reference/application-api.md#bodies.
 */
export class CheckedMembers {
  readonly #byFold = new Map<string, CheckedMember>();
  readonly #parents: ReadonlySet<string>;
  /** Candidates for a plain ASCII key by length and first letter; most slots are empty. */
  readonly #bySlot: FoundName[][] = Array.from({ length: (MAX_NAME_LENGTH + 1) << 5 }, () => []);
  #longest = 0;

  constructor(list: CheckedMemberList) {
    this.#parents = new Set(Object.keys(list.nested));
    for (const name of allNames(list)) this.#add(checkedMember(name, list));
  }

  /** Whether a string under this name is an address. */
  isAddress(name: string): boolean {
    return name === 'url' || this.#byFold.get(foldCase(name))?.isAddress === true;
  }

  /** Whether members of an object under this root member are recorded. */
  isParent(name: string): boolean {
    return this.#parents.has(name);
  }

  /**
   * Finds the listed name of a key.
   *
   * @param start first byte of the key's text, after the quote; `end` is the closing quote.
   * @param escaped whether the text contains a backslash; the escapes must be valid.
   */
  find(bytes: Buffer, start: number, end: number, escaped: boolean): FoundName | undefined {
    const length = end - start;
    if (length === 0 || length > this.#longest * MAX_BYTES_PER_UNIT) return undefined;
    if (!escaped && isAscii(bytes, start, end)) {
      const possible = length > MAX_NAME_LENGTH ? undefined : this.#bySlot[slot(length, bytes[start] as number)];
      if (possible === undefined || possible.length === 0) return undefined;
      for (const found of possible) if (isWrittenAt(bytes, start, found.written)) return found;
    }
    const text = bytes.toString('utf8', start, end);
    const written: unknown = escaped ? JSON.parse(`"${text}"`) : text;
    if (typeof written !== 'string') return undefined;
    const checked = this.#byFold.get(foldCase(written));
    return checked && { checked, written };
  }

  #add(checked: CheckedMember): void {
    const fold = foldCase(checked.name);
    if (this.#byFold.has(fold) || checked.name.length > MAX_NAME_LENGTH || !/^[a-z_]+$/i.test(checked.name)) {
      throw new Error(`judged name ${checked.name} is too long, not plain, or differs from another by case alone`);
    }
    this.#byFold.set(fold, checked);
    this.#bySlot[slot(checked.name.length, checked.name.charCodeAt(0))]?.push({ checked, written: checked.name });
    this.#longest = Math.max(this.#longest, checked.name.length);
  }
}

const GENERATION_CONFIG = [
  ...['maxOutputTokens', 'max_output_tokens', 'candidateCount', 'candidate_count'],
  ...['routingConfig', 'routing_config', 'modelSelectionConfig', 'model_selection_config'],
];

/**
 * Members of an input item that reference a stored object; `container_id` accompanies the content of a call that ran in
 * the container.
 */
export const ITEM_IDS: readonly string[] = ['id', 'container_id'];
const ITEM_NAMES: readonly string[] = [
  ...new Set([...ITEM_IDS, 'type', 'role', ...[...ITEM_CONTENT.values()].flatMap(({ members }) => members)]),
];

/**
 * Every member that affects policy, price or ownership of a JSON request.
 * Source: docs/reference/application-api.md#models, docs/reference/application-api.md#output-ceiling,
 * docs/reference/accounting.md#tokens-of-an-answer, docs/reference/application-api.md#refused-members.
 */
export const REQUEST_NAMES = new CheckedMembers({
  root: [
    ...['model', 'stream', 'max_output_tokens', 'max_tokens', 'max_completion_tokens', 'n', 'best_of'],
    ...['background', 'deferred', 'service_tier', 'serviceTier', 'speed', 'inference_geo'],
    ...['tools', 'web_search_options', 'search_parameters', 'models', 'fallbacks', 'compound_custom', 'svg'],
    ...['agent', 'agent_config', 'agentConfig', 'webhook_config', 'webhookConfig'],
    ...['continuation_token', 'continuationToken'],
    ...['providerOptions', 'plugins', 'store', 'modalities', 'diagnostics', 'container'],
    ...[...KEPT_AT_ROOT.any, ...KEPT_AT_ROOT.object, ...KEPT_AT_ROOT.owned].flatMap(spellings),
  ],
  nested: {
    generationConfig: GENERATION_CONFIG,
    generation_config: GENERATION_CONFIG,
    stream_options: ['include_usage'],
  },
  deep: [...KEPT_ANYWHERE, ...OWNED_ANYWHERE, ...OWNED_LISTS].flatMap(spellings),
  settings: KEPT_SETTINGS.flatMap(spellings),
  addresses: ADDRESSES.flatMap(spellings),
  addressHolders: ADDRESS_HOLDERS.flatMap(spellings),
  objects: new Map<string, HeldObjects>([
    ['input', { members: ITEM_NAMES, place: 'root' }],
    ...[...KEPT_BY_ID].map(([holder, { members }]): [string, HeldObjects] => {
      return [holder, { members: ['id', ...members], place: 'anywhere' }];
    }),
  ]),
  ids: ITEM_IDS,
  freeObjects: FREE_OBJECTS.flatMap(spellings),
  freeLists: FREE_LISTS.flatMap(spellings),
  media: [
    ...['url', 'image_url', 'file_url', 'document_url', 'video_url', 'audio_url'],
    ...['data', 'file_data', 'image', 'images', 'input_audio'],
  ],
});

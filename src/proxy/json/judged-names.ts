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
  spellings,
} from '../../upstreams/kept-objects.js';

/** Objects of which members are recorded: those under the holder, itself or as entries of its lists. */
export interface HeldObjects {
  readonly members: readonly string[];
  /** Whether the holder counts as a member of the body's own object alone, or wherever it stands. */
  readonly place: 'root' | 'anywhere';
}

/** Which member names policy looks at, and where. */
export interface JudgedNameList {
  /** Members of the body's own object. */
  readonly root: readonly string[];
  /** Members of an object that is itself a root member: parent name → names. Parents are judged at the root too. */
  readonly nested: Readonly<Record<string, readonly string[]>>;
  /** Names that matter wherever they stand, when their value is a string or an array. */
  readonly deep: readonly string[];
  /** Names that, likewise, hold a picture, a recording or a document, or say where one is. */
  readonly media: readonly string[];
  /** Of the deep names, those whose value may be an object as well. */
  readonly settings?: readonly string[];
  /** Names whose text is an address or content, wherever they stand. */
  readonly addresses?: readonly string[];
  /** Names under which `url` is such an address. */
  readonly addressHolders?: readonly string[];
  /** By the holder's name. */
  readonly objects?: ReadonlyMap<string, HeldObjects>;
  /** Members for which such an object is kept for judgement. */
  readonly ids?: readonly string[];
  /** Names of objects, below the body's own, and of lists, in which no deep name counts. */
  readonly freeObjects?: readonly string[];
  readonly freeLists?: readonly string[];
}

/** One judged name with the places where it counts. */
export interface JudgedName {
  readonly name: string;
  readonly root: boolean;
  readonly parents: ReadonlySet<string>;
  readonly deep: boolean;
  readonly isMedia: boolean;
  readonly isSetting: boolean;
  readonly isAddress: boolean;
  readonly holdsAddress: boolean;
  /** Where the objects under it are recorded, if they are. */
  readonly holdsObjects: HeldObjects['place'] | undefined;
  readonly isId: boolean;
  readonly isFreeObject: boolean;
  readonly isFreeList: boolean;
}

/** A key of the body that is a judged name, exactly or apart from letter case. */
export interface FoundName {
  readonly judged: JudgedName;
  /** The key as the client wrote it, unescaped. */
  readonly written: string;
}

const MAX_NAME_LENGTH = 63;
/** One code unit takes at most six bytes on the wire (a `\uXXXX` escape). */
const MAX_BYTES_PER_UNIT = 6;

/**
 * Letter case removed the way forgiving decoders do it: upper case first, so that the long s and the Kelvin sign,
 * which some decoders take for `s` and `k`, fall together with them.
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

function allNames(list: JudgedNameList): ReadonlySet<string> {
  const { addresses = [], addressHolders = [], objects = new Map<string, HeldObjects>() } = list;
  const nested = Object.entries(list.nested).flatMap(([parent, names]) => [parent, ...names]);
  const held = [...objects].flatMap(([holder, { members }]) => [holder, ...members]);
  const free = [...(list.freeObjects ?? []), ...(list.freeLists ?? [])];
  return new Set([
    ...[...list.root, ...nested, ...list.deep, ...(list.settings ?? []), ...list.media],
    ...[...addresses, ...addressHolders, ...held, ...(list.ids ?? []), ...free],
  ]);
}

function judgedName(name: string, list: JudgedNameList): JudgedName {
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
 * A compiled list of judged names: build it once per list, ask it for every key.
 *
 * Source: docs/reference/security.md#judged-and-sent-bytes, docs/reference/application-api.md#bodies.
 */
export class JudgedNames {
  readonly #byFold = new Map<string, JudgedName>();
  readonly #parents: ReadonlySet<string>;
  /** What a plain ASCII key of that length and first letter can be; most slots are empty. */
  readonly #bySlot: FoundName[][] = Array.from({ length: (MAX_NAME_LENGTH + 1) << 5 }, () => []);
  #longest = 0;

  constructor(list: JudgedNameList) {
    this.#parents = new Set(Object.keys(list.nested));
    for (const name of allNames(list)) this.#add(judgedName(name, list));
  }

  /** Whether a text under this name is an address. */
  isAddress(name: string): boolean {
    return name === 'url' || this.#byFold.get(foldCase(name))?.isAddress === true;
  }

  /** Whether an object under this root member is read member by member. */
  isParent(name: string): boolean {
    return this.#parents.has(name);
  }

  /**
   * The judged name a key stands for.
   *
   * @param start first byte of the key's text, after the quote; `end` is the closing quote.
   * @param escaped whether the text holds a backslash; the escapes must already be known to be valid.
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
    const judged = this.#byFold.get(foldCase(written));
    return judged && { judged, written };
  }

  #add(judged: JudgedName): void {
    const fold = foldCase(judged.name);
    if (this.#byFold.has(fold) || judged.name.length > MAX_NAME_LENGTH || !/^[a-z_]+$/i.test(judged.name)) {
      throw new Error(`judged name ${judged.name} is too long, not plain, or differs from another by case alone`);
    }
    this.#byFold.set(fold, judged);
    this.#bySlot[slot(judged.name.length, judged.name.charCodeAt(0))]?.push({ judged, written: judged.name });
    this.#longest = Math.max(this.#longest, judged.name.length);
  }
}

const GENERATION_CONFIG = [
  ...['maxOutputTokens', 'max_output_tokens', 'candidateCount', 'candidate_count'],
  ...['routingConfig', 'routing_config', 'modelSelectionConfig', 'model_selection_config'],
];

/** By these an item of an input names what is kept; a container stands beside the content of a call that ran in it. */
export const ITEM_IDS: readonly string[] = ['id', 'container_id'];
const ITEM_NAMES: readonly string[] = [
  ...new Set([...ITEM_IDS, 'type', 'role', ...[...ITEM_CONTENT.values()].flatMap(({ members }) => members)]),
];

/**
 * Every member that decides policy, price or ownership in a JSON request.
 *
 * Source: docs/reference/application-api.md#models, docs/reference/application-api.md#output-ceiling,
 * docs/reference/accounting.md#tokens-of-an-answer, docs/reference/application-api.md#refused-members.
 */
export const REQUEST_NAMES = new JudgedNames({
  root: [
    ...['model', 'stream', 'max_output_tokens', 'max_tokens', 'max_completion_tokens', 'n', 'best_of'],
    ...['background', 'deferred', 'service_tier', 'serviceTier', 'speed', 'inference_geo'],
    ...['tools', 'web_search_options', 'search_parameters', 'models', 'fallbacks', 'compound_custom', 'svg'],
    ...['providerOptions'],
    ...[...KEPT_AT_ROOT.any, ...KEPT_AT_ROOT.object, ...KEPT_AT_ROOT.response].flatMap(spellings),
  ],
  nested: {
    generationConfig: GENERATION_CONFIG,
    generation_config: GENERATION_CONFIG,
    stream_options: ['include_usage'],
  },
  deep: KEPT_ANYWHERE.flatMap(spellings),
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

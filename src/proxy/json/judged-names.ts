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
}

/** One judged name with the places where it counts. */
export interface JudgedName {
  readonly name: string;
  readonly root: boolean;
  readonly parents: ReadonlySet<string>;
  readonly deep: boolean;
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

/** A compiled list of judged names: build it once per list, ask it for every key. Source: threats 3.1, decision 3.5. */
export class JudgedNames {
  readonly #byFold = new Map<string, JudgedName>();
  readonly #parents: ReadonlySet<string>;
  readonly #media: ReadonlySet<string>;
  /** What a plain ASCII key of that length and first letter can be; most slots are empty. */
  readonly #bySlot: FoundName[][] = Array.from({ length: (MAX_NAME_LENGTH + 1) << 5 }, () => []);
  #longest = 0;

  constructor(list: JudgedNameList) {
    const parents = Object.keys(list.nested);
    this.#parents = new Set(parents);
    this.#media = new Set(list.media);
    const nested = parents.flatMap((parent) => list.nested[parent] ?? []);
    for (const name of new Set([...list.root, ...parents, ...nested, ...list.deep, ...list.media])) {
      this.#add({
        name,
        root: list.root.includes(name) || this.#parents.has(name),
        parents: new Set(parents.filter((parent) => list.nested[parent]?.includes(name))),
        deep: list.deep.includes(name) || this.#media.has(name),
      });
    }
  }

  /** Whether an object under this root member is read member by member. */
  isParent(name: string): boolean {
    return this.#parents.has(name);
  }

  /** Whether this deep name is one of media. */
  isMedia(name: string): boolean {
    return this.#media.has(name);
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
      const exact = possible.find((found) => isWrittenAt(bytes, start, found.written));
      if (exact !== undefined) return exact;
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

const GENERATION_CONFIG = ['maxOutputTokens', 'max_output_tokens', 'candidateCount', 'candidate_count'];

/** Every member that decides policy, price or ownership in a JSON request. Source: contract-app 6.6-6.8, decisions 3.3-3.6. */
export const REQUEST_NAMES = new JudgedNames({
  root: [
    ...['model', 'stream', 'max_output_tokens', 'max_tokens', 'max_completion_tokens', 'n', 'best_of'],
    ...['background', 'deferred', 'previous_response_id', 'prompt', 'conversation', 'cachedContent', 'cached_content'],
    ...['container', 'batch', 'batch_id', 'service_tier', 'serviceTier', 'speed', 'inference_geo'],
    ...['tools', 'web_search_options', 'search_parameters', 'models', 'providerOptions'],
  ],
  nested: {
    generationConfig: GENERATION_CONFIG,
    generation_config: GENERATION_CONFIG,
    stream_options: ['include_usage'],
  },
  deep: [
    ...['file_id', 'file_ids', 'fileUri', 'file_uri', 'vector_store_ids'],
    ...['fileSearchStoreNames', 'file_search_store_names'],
  ],
  media: [
    ...['url', 'image_url', 'file_url', 'document_url', 'video_url', 'audio_url'],
    ...['data', 'file_data', 'image', 'images', 'input_audio'],
  ],
});

import { GatewayError, invalidRequest } from '../../common/errors/gateway-error.js';
import type { CapStyle } from '../../upstreams/api-style.rules.js';
import { type JsonEdit, setMember } from '../json/json-edit.js';
import { isNamed, type MemberSpan, memberValue, type ObjectSpan, type ScannedBody } from '../json/scanned-body.js';

/** Rules for the output limit of one request. */
export interface OutputCap {
  readonly style: CapStyle;
  /** Maximum output tokens of one request over all choices; undefined when none is configured. */
  readonly cap: number | undefined;
  /** The member to set in a Chat Completions body without a limit. */
  readonly chatField: 'max_tokens' | 'max_completion_tokens';
}

/** Effect of the output limit on the body to send and on the maximum cost. */
export interface CheckedOutput {
  /** Set the cap where the body has no limit. */
  readonly edits: readonly JsonEdit[];
  /** Maximum output tokens over all choices; undefined where neither the client nor a cap limits them. */
  readonly maxTokens: number | undefined;
  /** Number of choices to generate, at least 1. */
  readonly choices: number;
}

/** Member names of one cap style. */
interface CapFields {
  /** Every spelling of the limit; the gateway sets the first one. */
  readonly limits: readonly string[];
  /** Members that make the provider generate several choices. */
  readonly multipliers: readonly string[];
  /** Lowest effective limit: Gemini treats zero as "not set". */
  readonly least: 0 | 1;
}

/** A number in the body; `path` names it in errors. */
interface NamedNumber {
  readonly path: string;
  readonly value: number;
}

const NO_MULTIPLIER: NamedNumber = { path: 'n', value: 1 };
const UNLIMITED: CheckedOutput = { edits: [], maxTokens: undefined, choices: 1 };
const GEMINI_PARENTS = ['generationConfig', 'generation_config'];
const GEMINI: CapFields = {
  limits: ['maxOutputTokens', 'max_output_tokens'],
  multipliers: ['candidateCount', 'candidate_count'],
  least: 1,
};

function rootFields({ style, chatField }: OutputCap): CapFields {
  if (style === 'responses') return { limits: ['max_output_tokens'], multipliers: [], least: 0 };
  if (style === 'anthropic') return { limits: ['max_tokens'], multipliers: [], least: 0 };
  const other = chatField === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens';
  return { limits: [chatField, other], multipliers: ['n', 'best_of'], least: 0 };
}

/** Reads the members of `object` among `names` as whole numbers of at least `least`; `null` counts as absent. */
function readNumbers(
  bytes: Buffer,
  object: ObjectSpan,
  names: readonly string[],
  prefix: string,
  least: number,
): NamedNumber[] {
  const numbers: NamedNumber[] = [];
  for (const name of names) {
    const member = object.members.get(name);
    if (!isNamed(bytes, member)) continue;
    const path = prefix + name;
    const value = memberValue(bytes, member, path);
    if (typeof value !== 'number') throw invalidRequest(path, 'must be a number');
    if (!Number.isInteger(value) || value < least) {
      throw invalidRequest(path, `must be a whole number of at least ${least}`);
    }
    numbers.push({ path, value });
  }
  return numbers;
}

function largest(numbers: readonly NamedNumber[]): NamedNumber {
  return numbers.reduce((most, number) => (number.value > most.value ? number : most), NO_MULTIPLIER);
}

function requireWithin(cap: number, limits: readonly NamedNumber[], multiplier: NamedNumber): void {
  const times = multiplier.value > 1 ? ` times ${multiplier.path}: ${multiplier.value}` : '';
  for (const { path, value } of limits) {
    if (value * multiplier.value <= cap) continue;
    throw new GatewayError('max_output_tokens_exceeded', {
      message: `${path}: ${value}${times} is above the ${cap} output tokens allowed for one request.`,
    });
  }
  if (multiplier.value <= cap) return;
  throw new GatewayError('max_output_tokens_exceeded', {
    message: `${multiplier.path}: ${multiplier.value} choices do not fit into the ${cap} output tokens allowed for one request.`,
  });
}

/**
 * Computes the maximum output of all choices together.
 *
 * @param limits in the body. Providers may treat zero as "not set", so it limits nothing.
 * @param cap undefined when none is configured or in force in addition to the limits.
 */
function mostTokensOf(limits: readonly NamedNumber[], choices: number, cap: number | undefined): number | undefined {
  if (limits.length === 0) return cap;
  let most = 0;
  for (const { value } of limits) {
    if (value === 0) return cap;
    if (value > most) most = value;
  }
  return most * choices;
}

function validateRootCap({ bytes, root }: ScannedBody, wanted: OutputCap): CheckedOutput {
  const { cap } = wanted;
  const fields = rootFields(wanted);
  const limits = readNumbers(bytes, root, fields.limits, '', fields.least);
  const multiplier = largest(readNumbers(bytes, root, fields.multipliers, '', 1));
  if (cap !== undefined) requireWithin(cap, limits, multiplier);
  const choices = multiplier.value;
  const checked = { maxTokens: mostTokensOf(limits, choices, cap), choices };
  const [field] = fields.limits;
  if (cap === undefined || limits.length > 0 || field === undefined) return { ...checked, edits: [] };
  return { ...checked, edits: [setMember(root, field, String(Math.floor(cap / choices)))] };
}

/** Sets the limit in one configuration object; replaces a `null` under either spelling. */
function setGeminiLimit(config: ObjectSpan, perChoice: string): JsonEdit {
  const present = GEMINI.limits.find((name) => config.members.has(name));
  return setMember(config, present ?? 'maxOutputTokens', perChoice);
}

/** One configuration object of a Gemini body, under either spelling. */
interface GeminiConfig {
  readonly member: MemberSpan;
  /** Absent when the member is not an object. */
  readonly config: ObjectSpan | undefined;
  readonly limits: readonly NamedNumber[];
  readonly multipliers: readonly NamedNumber[];
}

function readGeminiConfigs({ bytes, root }: ScannedBody, least: number): GeminiConfig[] {
  return GEMINI_PARENTS.flatMap((name) => root.members.get(name) ?? []).map((member) => {
    const config = member.nested;
    const read = (names: readonly string[], from: number) =>
      config === undefined ? [] : readNumbers(bytes, config, names, `${member.name}.`, from);
    return { member, config, limits: read(GEMINI.limits, least), multipliers: read(GEMINI.multipliers, 1) };
  });
}

function geminiCapEdits(root: ObjectSpan, configs: readonly GeminiConfig[], perChoice: number): JsonEdit[] {
  const created = `{"maxOutputTokens":${perChoice}}`;
  if (configs.length === 0) return [setMember(root, 'generationConfig', created)];
  return configs.flatMap(({ member, config, limits }): JsonEdit[] => {
    if (config === undefined) return [{ kind: 'replace', member, json: created }];
    return limits.length > 0 ? [] : [setGeminiLimit(config, String(perChoice))];
  });
}

const INTERACTIONS_CONFIG = 'generation_config';
const INTERACTIONS_LIMIT = 'max_output_tokens';

/** The Interactions API has one spelling of these members; another one could hide a limit that it does not read. */
function requireSpelling({ members }: ObjectSpan, spellings: readonly string[], spelling: string, prefix = ''): void {
  const other = spellings.find((name) => name !== spelling && members.has(name));
  if (other !== undefined) throw invalidRequest(prefix + other, `must be written ${spelling} on this path`);
}

function validateInteractionsCap({ bytes, root }: ScannedBody, cap: number | undefined): CheckedOutput {
  requireSpelling(root, GEMINI_PARENTS, INTERACTIONS_CONFIG);
  const config = root.members.get(INTERACTIONS_CONFIG)?.nested;
  const prefix = `${INTERACTIONS_CONFIG}.`;
  if (config !== undefined) requireSpelling(config, GEMINI.limits, INTERACTIONS_LIMIT, prefix);
  const least = cap === undefined ? 0 : GEMINI.least;
  const limits = config === undefined ? [] : readNumbers(bytes, config, [INTERACTIONS_LIMIT], prefix, least);
  const checked = { maxTokens: mostTokensOf(limits, 1, cap), choices: 1 };
  if (cap === undefined) return { ...checked, edits: [] };
  requireWithin(cap, limits, NO_MULTIPLIER);
  if (limits.length > 0) return { ...checked, edits: [] };
  const edit =
    config === undefined
      ? setMember(root, INTERACTIONS_CONFIG, `{"${INTERACTIONS_LIMIT}":${cap}}`)
      : setMember(config, INTERACTIONS_LIMIT, String(cap));
  return { ...checked, edits: [edit] };
}

/** Validates and limits both spellings of the configuration object, because a provider may read either. */
function validateGeminiCap(body: ScannedBody, cap: number | undefined): CheckedOutput {
  const configs = readGeminiConfigs(body, cap === undefined ? 0 : GEMINI.least);
  const multiplier = largest(configs.flatMap(({ multipliers }) => multipliers));
  const limits = configs.flatMap((config) => config.limits);
  const choices = multiplier.value;
  const isLimited = configs.every((config) => config.limits.length > 0);
  const maxTokens = isLimited ? mostTokensOf(limits, choices, cap) : cap;
  if (cap === undefined) return { edits: [], maxTokens, choices };
  requireWithin(cap, limits, multiplier);
  return { edits: geminiCapEdits(body.root, configs, Math.floor(cap / choices)), maxTokens, choices };
}

/**
 * Validates the output limit of a body in every spelling of its style, returns the edits that set the cap where the
 * body has no limit, and computes the maximum output.
 *
 * The cap applies to the whole request: tokens per choice × number of choices (`n`, `best_of`, `candidateCount`) must
 * not exceed it. A body without a limit gets `floor(cap / choices)`, and is refused when there are more choices than
 * tokens. `null` counts as absent. Without a cap nothing is limited, but types are still checked.
 *
 * @throws invalid_request a limit is not a whole number ≥ 0 (Gemini with a cap: ≥ 1), or a multiplier is not one ≥ 1.
 * @throws max_output_tokens_exceeded
 * Source: docs/reference/application-api.md#output-ceiling, docs/reference/accounting.md#hard-budgets.
 */
export function validateOutputCap(body: ScannedBody, wanted: OutputCap): CheckedOutput {
  switch (wanted.style) {
    case 'none':
      return UNLIMITED;
    case 'gemini_native':
      return validateGeminiCap(body, wanted.cap);
    case 'gemini_interactions':
      return validateInteractionsCap(body, wanted.cap);
    default:
      return validateRootCap(body, wanted);
  }
}

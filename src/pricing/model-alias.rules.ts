import type { ModelInfo } from '@pydantic/genai-prices';

type MatchRule = ModelInfo['match'];

/**
 * Suffixes of a version: a date (`-20250929`, `-2025-04-14`, `-09-2025`), a month or day (`-2411`, `-0613`), a number
 * of three digits (`-001`), or `-latest`; and the same with the `-preview` before a date.
 */
const VERSION_SUFFIXES = [
  /-(?:\d{4}-\d{2}-\d{2}|\d{8}|\d{2}-\d{4}|\d{4}|\d{3}|latest)$/,
  /-preview-\d{2}-(?:\d{4}|\d{2})$/,
];
/** A fine-tuned model: `ft:<base>:<organization>:<name>:<id>`. */
const FINE_TUNED = /^(ft:[^:]+):/;
const GEMINI_RESOURCE = 'models/';

/** The name of a model without the `models/` of Gemini's resource names. */
export function bareModelName(type: string, model: string): string {
  return type === 'gemini' && model.startsWith(GEMINI_RESOURCE) ? model.slice(GEMINI_RESOURCE.length) : model;
}

/**
 * Names under which a model may be listed, the closest one first: the name itself, then the name without the suffix of
 * its version. Of a fine-tuned model, the name of its base.
 * Source: docs/reference/accounting.md#price-lookup.
 */
export function listedNamesOf(model: string): readonly string[] {
  const name = FINE_TUNED.exec(model)?.[1] ?? model;
  return [...new Set([name, ...VERSION_SUFFIXES.map((suffix) => name.replace(suffix, ''))])];
}

/**
 * Names that an entry of the price library lists: its id, and what its match rule names in full. A rule that matches by
 * prefix names the prefix alone, without the punctuation at its end.
 */
export function namesOfEntry({ id, match }: Pick<ModelInfo, 'id' | 'match'>): readonly string[] {
  return [...new Set([id, ...namesOfRule(match)])];
}

function namesOfRule(rule: MatchRule): string[] {
  if ('or' in rule) return rule.or.flatMap(namesOfRule);
  if ('and' in rule) return rule.and.flatMap(namesOfRule);
  if ('equals' in rule) return [rule.equals];
  const stem = 'starts_with' in rule ? rule.starts_with : 'contains' in rule ? rule.contains : undefined;
  if (stem !== undefined) return [stem.replace(/[-@:]+$/, '')];
  return 'ends_with' in rule ? [rule.ends_with] : [];
}

/** A request for a creation, as a client saw it. Times are of one clock, in milliseconds. */
export interface CreationCall {
  /** The idempotency key, of one kind, account and identity. */
  readonly key: string;
  readonly proof: number;
  readonly body: number;
  readonly sentAtMs: number;
  readonly answeredAtMs: number;
  /** Undefined without an answer: it is unknown whether it was carried out. */
  readonly status: number | undefined;
  /** The body of a 201. */
  readonly text: string;
}

const CARRIED_OUT = 201;
const WRONG_PROOF = 403;
const CHANGED_BODY = 409;
/** They say what was carried out before; every other answer says nothing. */
const DEFINITE: ReadonlySet<number | undefined> = new Set([CARRIED_OUT, WRONG_PROOF, CHANGED_BODY]);

/**
 * Checks the observations of clients against the sequential model: a key is free until one request with it is carried
 * out; from then on the same proof and body get that one's answer, another proof 403, another body 409.
 *
 * A key changes once, so a history of it is linearizable exactly when one request can have been the first: it agrees
 * with all definite answers, and was sent before any of them came back.
 *
 * @returns the keys that no first request explains, with the reason.
 */
export function unexplainedKeys(calls: readonly CreationCall[]): string[] {
  return [...Map.groupBy(calls, ({ key }) => key)].flatMap(([key, ofKey]) => {
    const definite = ofKey.filter(({ status }) => DEFINITE.has(status));
    const answers = new Set(ofKey.filter(({ status }) => status === CARRIED_OUT).map(({ text }) => text));
    if (answers.size > 1) return [`${key}: ${answers.size} different answers`];
    if (definite.length === 0 || ofKey.some((call) => canBeFirst(call, definite))) return [];
    return [`${key}: ${JSON.stringify(ofKey)}`];
  });
}

function canBeFirst(first: CreationCall, definite: readonly CreationCall[]): boolean {
  const mayBeCarriedOut = first.status === CARRIED_OUT || !DEFINITE.has(first.status);
  return (
    mayBeCarriedOut &&
    definite.every((call) => call.status === expectedStatus(first, call) && first.sentAtMs <= call.answeredAtMs)
  );
}

function expectedStatus(first: CreationCall, { proof, body }: CreationCall): number {
  if (proof !== first.proof) return WRONG_PROOF;
  return body === first.body ? CARRIED_OUT : CHANGED_BODY;
}

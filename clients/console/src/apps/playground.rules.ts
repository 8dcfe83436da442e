import type { UsageEvent } from '../usage/status-badges';
import type { Stage } from './stream-text.rules';

/** The target of a message. */
export interface Target {
  readonly slug: string;
  readonly model: string;
}

/** The reply of one target to one message. */
export interface Reply {
  readonly target: Target;
  /** Absent while the response arrives. */
  readonly status?: number;
  readonly text: string;
  readonly stages: readonly Stage[];
}

export interface Turn {
  readonly message: string;
  /** The newest event before it. */
  readonly afterId: number;
  readonly replies: readonly Reply[];
}

interface ChatMessage {
  readonly role: 'user' | 'assistant';
  readonly content: string;
}

/**
 * The conversation of one column with another message. Messages that the column refused or failed to answer are left
 * out, so that roles alternate.
 */
export function messagesOf(turns: readonly Turn[], column: number, message: string): readonly ChatMessage[] {
  const told = turns.flatMap(({ message: asked, replies }): ChatMessage[] => {
    const reply = replies[column];
    if (reply?.status === undefined || reply.status >= 400 || reply.text === '') return [];
    return [
      { role: 'user', content: asked },
      { role: 'assistant', content: reply.text },
    ];
  });
  return [...told, { role: 'user', content: message }];
}

/** Whether an event belongs to a turn: newer than `afterId` and, where the key is known, made with it. */
interface Sought {
  readonly afterId: number;
  readonly keyId: string | undefined;
}

/**
 * The recorded event of a reply among the newest ones. Two replies of one provider each get the event of their model; a
 * rewritten model gets the one that the other does not.
 *
 * @param column of the reply in its turn.
 */
export function eventOfReply(
  events: readonly UsageEvent[],
  replies: readonly Pick<Reply, 'target'>[],
  column: number,
  { afterId, keyId }: Sought,
): UsageEvent | undefined {
  const own = replies[column]?.target;
  if (own === undefined) return undefined;
  const other = replies.find(({ target }, at) => at !== column && target.slug === own.slug)?.target;
  const candidates = events
    .filter(({ id, api_key_id }) => id > afterId && (keyId === undefined || api_key_id === keyId))
    .filter(({ provider_slug }) => own.slug === '' || provider_slug === own.slug)
    .sort((a, b) => a.id - b.id);
  return candidates.find(({ model }) => model === own.model) ?? candidates.find(({ model }) => model !== other?.model);
}

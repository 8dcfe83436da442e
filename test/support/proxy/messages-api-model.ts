import { conclusionOf, USED } from './responses-api-model.js';
import { event, json, type Script, sse } from './upstream-scripts.js';

type Block = Readonly<Record<string, unknown>>;

interface Message {
  readonly role: string;
  readonly content: string | readonly Block[];
}

const USAGE = {
  ...{ input_tokens: USED.inputTokens, output_tokens: USED.outputTokens },
  ...{ cache_creation_input_tokens: 0, cache_read_input_tokens: 0 },
};

/**
 * A thinking model behind the Messages API, as strict as its original: it thinks, uses a tool once, and concludes from
 * the result. It signs its thoughts: any other signature, a tool use that came without its thought, and a
 * result of what it did not use, is 400.
 */
export class MessagesApiModel {
  /** What it signed its thoughts with, in order. */
  readonly signed: string[] = [];
  /** Bodies it was sent. */
  readonly requests: Record<string, unknown>[] = [];
  private made = 0;

  /** @param use the tool that it uses, with its input. */
  constructor(private readonly use: { readonly name: string; readonly input: object }) {}

  readonly script: Script = async (exchange) => {
    const request = JSON.parse(String(await exchange.body()));
    this.requests.push(request);
    const broken = this.brokenOf(request.messages);
    if (broken !== undefined)
      return json(400, { type: 'error', error: { type: 'invalid_request_error', message: broken } })(exchange);
    const content = this.answerTo(blocksOf(request.messages.at(-1)));
    const stop_reason = content.at(-1)?.type === 'tool_use' ? 'tool_use' : 'end_turn';
    const message = {
      ...{ id: this.newId('msg'), type: 'message', role: 'assistant', model: request.model, content },
      ...{ stop_reason, stop_sequence: null, usage: USAGE },
    };
    return (request.stream === true ? streamed(message) : json(200, message))(exchange);
  };

  private newId(prefix: string): string {
    return `${prefix}_${(++this.made).toString().padStart(24, '0')}`;
  }

  private brokenOf(messages: readonly Message[]): string | undefined {
    for (const [index, message] of messages.entries()) {
      const blocks = blocksOf(message);
      const foreign = blocks.some(
        ({ type, signature }) => type === 'thinking' && !this.signed.includes(`${signature}`),
      );
      if (foreign) return 'Invalid `signature` in `thinking` block';
      if (has(blocks, 'tool_use') && blocks[0]?.type !== 'thinking') return 'Expected `thinking`, but found `tool_use`';
      const used = blocksOf(messages[index - 1]).map(({ id }) => id);
      const strayed = blocks.some(({ type, tool_use_id }) => type === 'tool_result' && !used.includes(tool_use_id));
      if (strayed) return 'Each `tool_result` must have a `tool_use` in the previous message';
    }
    return undefined;
  }

  private answerTo(asked: readonly Block[]): Block[] {
    const signature = Buffer.from(this.newId('signature')).toString('base64');
    this.signed.push(signature);
    const thought = { type: 'thinking', thinking: 'The file says it.', signature };
    const result = asked.find(({ type }) => type === 'tool_result');
    if (result === undefined) return [thought, { type: 'tool_use', id: this.newId('toolu'), ...this.use }];
    return [thought, { type: 'text', text: conclusionOf(result.content) }];
  }
}

function blocksOf(message: Message | undefined): readonly Block[] {
  return Array.isArray(message?.content) ? message.content : [];
}

function has(blocks: readonly Block[], wanted: string): boolean {
  return blocks.some(({ type }) => type === wanted);
}

function streamed(message: Block & { readonly content: readonly Block[]; readonly stop_reason: string }): Script {
  const told = (type: string, members: object) => `event: ${type}\n${event({ type, ...members })}`;
  const ofBlock = (block: Block, index: number): string[] => [
    told('content_block_start', { index, content_block: { ...block, ...EMPTY[`${block.type}`] } }),
    ...deltasOf(block).map((delta) => told('content_block_delta', { index, delta })),
    told('content_block_stop', { index }),
  ];
  const { stop_reason, content } = message;
  return sse([
    told('message_start', { message: { ...message, content: [], stop_reason: null } }),
    ...content.flatMap(ofBlock),
    told('message_delta', { delta: { stop_reason, stop_sequence: null }, usage: USAGE }),
    told('message_stop', {}),
  ]);
}

/** What a block of each type begins with. */
const EMPTY: Readonly<Record<string, object>> = {
  thinking: { thinking: '', signature: '' },
  text: { text: '' },
  tool_use: { input: {} },
};

function deltasOf({ type, thinking, signature, text, input }: Block): object[] {
  if (type === 'text') return [{ type: 'text_delta', text }];
  if (type === 'tool_use') return [{ type: 'input_json_delta', partial_json: JSON.stringify(input) }];
  return [
    { type: 'thinking_delta', thinking },
    { type: 'signature_delta', signature },
  ];
}

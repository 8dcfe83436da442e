import { event, json, type Script, sse } from './upstream-scripts.js';

type Item = Readonly<Record<string, unknown>>;

/** What each of its answers has used. */
export const USED = { inputTokens: 11, outputTokens: 7 };

const FULL_USAGE = {
  ...{ input_tokens: USED.inputTokens, output_tokens: USED.outputTokens },
  total_tokens: USED.inputTokens + USED.outputTokens,
  ...{ input_tokens_details: { cached_tokens: 0 }, output_tokens_details: { reasoning_tokens: 3 } },
};

/** A line of one word: clients put words of their own around what a tool has said. */
const WORD = /^\w+$/m;

/** What a model says once it has the result of its tool. */
export function conclusionOf(result: unknown): string {
  return `It is ${WORD.exec(String(result))?.[0]}.`;
}

const WEATHER = { name: 'weather', arguments: '{"city":"Bern"}' };

/**
 * A reasoning model behind the Responses API, as strict as its original: it thinks, calls a function once, and
 * concludes from the result; it compacts what was said. It keeps what it made: a reference to anything else is 404. It
 * seals its thoughts for those who ask: any other seal, and a thought without the item that followed it, is 400.
 */
export class ResponsesApiModel {
  /** Everything it made that is kept, by id. */
  readonly kept = new Map<string, Item>();
  /** Thoughts that it sealed, in order. */
  readonly sealed: string[] = [];
  /** Bodies it was sent. */
  readonly requests: Record<string, unknown>[] = [];
  private made = 0;

  /** @param call the function that it calls, with its arguments as JSON text. */
  constructor(private readonly call: Readonly<Record<'name' | 'arguments', string>> = WEATHER) {}

  readonly script: Script = async (exchange) => {
    const request = JSON.parse(String(await exchange.body()));
    this.requests.push(request);
    const input: Item[] = Array.isArray(request.input) ? request.input : [{ role: 'user', content: request.input }];
    const missing = this.missingOf(request, input);
    if (missing !== undefined)
      return json(404, { error: { message: missing, type: 'invalid_request_error' } })(exchange);
    const broken = this.brokenThoughtOf(input);
    if (broken !== undefined) return json(400, { error: { message: broken, type: 'invalid_request_error' } })(exchange);
    if (exchange.request.url?.endsWith('/compact')) return json(200, this.compacted(input))(exchange);
    const output = this.answerTo(input, request.include?.includes('reasoning.encrypted_content') === true);
    const id = this.newId('resp');
    if (request.store !== false) for (const item of [...output, { id }]) this.kept.set(String(item.id), item);
    const { model, tools = [], parallel_tool_calls = true } = request;
    const response = {
      ...{ id, object: 'response', created_at: 1_790_000_000, status: 'completed', model, output, usage: FULL_USAGE },
      ...{ error: null, incomplete_details: null, instructions: null, metadata: {}, parallel_tool_calls, tools },
      ...{ temperature: 1, top_p: 1, tool_choice: 'auto', store: request.store !== false },
    };
    return (request.stream === true ? streamed(response) : json(200, response))(exchange);
  };

  private newId(prefix: string): string {
    return `${prefix}_${(++this.made).toString().padStart(24, '0')}`;
  }

  private missingOf(request: Item, input: readonly Item[]): string | undefined {
    const named = input.filter(
      ({ type, encrypted_content }) => type === 'item_reference' || (type === 'reasoning' && !encrypted_content),
    );
    const ids = [request.previous_response_id, ...named.map(({ id }) => id)].filter(
      (id) => id !== undefined && id !== null,
    );
    const unknown = ids.find((id) => !this.kept.has(String(id)));
    return unknown === undefined ? undefined : `Item with id '${String(unknown)}' not found.`;
  }

  private brokenThoughtOf(input: readonly Item[]): string | undefined {
    const isForeign = input.some(({ encrypted_content: seal }) => seal && !this.sealed.includes(String(seal)));
    if (isForeign) return 'The encrypted content could not be verified.';
    const thoughts = input.filter(({ type }) => type === 'reasoning');
    const alone = thoughts.find((thought) => {
      const next = input[input.indexOf(thought) + 1];
      return next === undefined || next.type === 'reasoning' || next.role === 'user';
    });
    return alone && `Item '${alone.id}' of type 'reasoning' was provided without its required following item.`;
  }

  private thoughtOf(isSealed: boolean): Item {
    const thought = { id: this.newId('rs'), type: 'reasoning', summary: [] };
    return isSealed ? this.seal(thought) : thought;
  }

  private seal(item: Item): Item {
    const encrypted_content = `sealed-${String(item.id)}`;
    this.sealed.push(encrypted_content);
    return { ...item, encrypted_content };
  }

  /** What people said, and everything else in one sealed item. */
  private compacted(input: readonly Item[]): Item {
    const said = input.filter(({ role }) => role === 'user');
    const output = [...said, this.seal({ id: this.newId('cmp'), type: 'compaction' })];
    const id = this.newId('resp');
    return { id, object: 'response.compaction', created_at: 1_790_000_000, output, usage: FULL_USAGE };
  }

  private answerTo(input: readonly Item[], isSealed: boolean): Item[] {
    const thought = this.thoughtOf(isSealed);
    const last = input.at(-1);
    if (last?.type === 'function_call_output') {
      const content = [{ type: 'output_text', text: conclusionOf(last.output), annotations: [] }];
      return [thought, { id: this.newId('msg'), type: 'message', role: 'assistant', status: 'completed', content }];
    }
    const call = { id: this.newId('fc'), type: 'function_call', call_id: `call_${this.made}`, status: 'completed' };
    return [thought, { ...call, ...this.call }];
  }
}

function streamed(response: Item & { readonly output: readonly Item[] }): Script {
  let sequence_number = 0;
  const told = (type: string, members: object) => event({ type, sequence_number: sequence_number++, ...members });
  const opened = { ...response, status: 'in_progress', output: [], usage: null };
  const ofItem = (item: Item, output_index: number): string[] => {
    const at = { output_index, item_id: item.id, content_index: 0 };
    const [part] = (item.content ?? []) as { readonly text: string }[];
    const inside =
      item.type === 'function_call'
        ? [
            told('response.function_call_arguments.delta', { ...at, delta: item.arguments }),
            told('response.function_call_arguments.done', { ...at, name: item.name, arguments: item.arguments }),
          ]
        : part === undefined
          ? []
          : [
              told('response.content_part.added', { ...at, part: { ...part, text: '' } }),
              told('response.output_text.delta', { ...at, delta: part.text, logprobs: [] }),
              told('response.output_text.done', { ...at, text: part.text, logprobs: [] }),
              told('response.content_part.done', { ...at, part }),
            ];
    const begun = {
      ...item,
      ...(item.content !== undefined && { content: [] }),
      ...(item.arguments !== undefined && { arguments: '' }),
    };
    return [
      told('response.output_item.added', { output_index, item: begun }),
      ...inside,
      told('response.output_item.done', { output_index, item }),
    ];
  };
  return sse([
    told('response.created', { response: opened }),
    told('response.in_progress', { response: opened }),
    ...response.output.flatMap(ofItem),
    told('response.completed', { response }),
  ]);
}

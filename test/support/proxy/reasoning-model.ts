import { event, json, type Script, sse } from './upstream-scripts.js';

type Item = Readonly<Record<string, unknown>>;

const FULL_USAGE = {
  ...{ input_tokens: 11, output_tokens: 7, total_tokens: 18 },
  ...{ input_tokens_details: { cached_tokens: 0 }, output_tokens_details: { reasoning_tokens: 3 } },
};

/**
 * A reasoning model behind the Responses API, as strict as its original: it thinks, calls the function `weather` once, and
 * answers when it gets the result. It keeps what it made: a reference to anything else is 404, and a reasoning item
 * without the item that followed it is 400.
 */
export class ReasoningModel {
  /** Everything it made that is kept, by id. */
  readonly kept = new Map<string, Item>();
  /** Bodies it was sent. */
  readonly requests: Record<string, unknown>[] = [];
  private made = 0;

  readonly script: Script = async (exchange) => {
    const request = JSON.parse(String(await exchange.body()));
    this.requests.push(request);
    const input: Item[] = Array.isArray(request.input) ? request.input : [{ role: 'user', content: request.input }];
    const missing = this.missingOf(request, input);
    if (missing !== undefined)
      return json(404, { error: { message: missing, type: 'invalid_request_error' } })(exchange);
    const output = this.answerTo(input);
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

  private answerTo(input: readonly Item[]): Item[] {
    const thought = { id: this.newId('rs'), type: 'reasoning', summary: [] };
    const last = input.at(-1);
    if (last?.type === 'function_call_output') {
      const content = [{ type: 'output_text', text: `It is ${String(last.output)}.`, annotations: [] }];
      return [thought, { id: this.newId('msg'), type: 'message', role: 'assistant', status: 'completed', content }];
    }
    const call = { id: this.newId('fc'), type: 'function_call', call_id: `call_${this.made}`, status: 'completed' };
    return [thought, { ...call, name: 'weather', arguments: '{"city":"Bern"}' }];
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

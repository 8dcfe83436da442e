/** What the bench's clients send, one call of 1 KB in the shapes upstream.mjs understands, and what they are answered. */

const CALL_BYTES = 1024;
const ANSWER_BYTES = 1024;

export const USAGE = { prompt_tokens: 210, completion_tokens: 180, total_tokens: 390 };

/** 1 KB of JSON that answers a call. */
export function chatAnswer() {
  return padded(ANSWER_BYTES, (content) => ({
    id: 'chatcmpl-bench',
    object: 'chat.completion',
    created: 1_790_000_000,
    model: 'gpt-4.1',
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
    usage: USAGE,
  }));
}

/** The same for one of the Responses API. */
export function responsesAnswer() {
  return padded(ANSWER_BYTES, (text) => ({
    id: 'resp_bench',
    object: 'response',
    created_at: 1_790_000_000,
    status: 'completed',
    model: 'gpt-4.1',
    output: [{ type: 'message', id: 'msg_bench', role: 'assistant', content: [{ type: 'output_text', text }] }],
    usage: { input_tokens: 210, output_tokens: 180, total_tokens: 390 },
  }));
}

/** A call that is answered by 1 KB of JSON. @param bytes of its body */
export function jsonCall(bytes = CALL_BYTES) {
  return callWith('Say something short.', {}, bytes);
}

/** A streamed call answered by `chunks` content chunks, one every `intervalMs`. */
export function streamCall(chunks, intervalMs) {
  return callWith(`bench-stream-${chunks}-${intervalMs}`, { stream: true });
}

/** A call of the Responses API that is answered by 1 KB of JSON. */
export function responsesCall() {
  return padded(CALL_BYTES, (filler) => ({
    model: 'gpt-4.1',
    input: [
      { role: 'developer', content: `You are brief. ${filler}` },
      { role: 'user', content: 'Say something short.' },
    ],
  }));
}

function callWith(instruction, members, bytes = CALL_BYTES) {
  return padded(bytes, (filler) => ({
    model: 'gpt-4.1',
    ...members,
    max_tokens: 400,
    messages: [
      { role: 'system', content: `You are brief. ${filler}` },
      { role: 'user', content: instruction },
    ],
  }));
}

/** JSON of exactly so many bytes: `build` receives a filler text of the length that makes it so. */
function padded(bytes, build) {
  const textOf = (filler) => JSON.stringify(build(filler));
  return textOf('b'.repeat(bytes - textOf('').length));
}

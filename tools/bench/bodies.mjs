/** The requests of the bench's clients, one call of 1 KB, and the responses of provider.mjs. */

const BYTES = 1024;

export const USAGE = { prompt_tokens: 210, completion_tokens: 180, total_tokens: 390 };

/** The response to a call: 1 KB of JSON. */
export function chatAnswer() {
  return padded((content) => ({
    id: 'chatcmpl-bench',
    object: 'chat.completion',
    created: 1_790_000_000,
    model: 'gpt-4.1',
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
    usage: USAGE,
  }));
}

/** A call with a response of 1 KB of JSON. */
export function jsonCall() {
  return callWith('Say something short.', {});
}

/** A streamed call answered by `chunks` content chunks, one every `intervalMs`. */
export function streamCall(chunks, intervalMs) {
  return callWith(`bench-stream-${chunks}-${intervalMs}`, { stream: true });
}

function callWith(instruction, members) {
  return padded((filler) => ({
    model: 'gpt-4.1',
    ...members,
    max_tokens: 400,
    messages: [
      { role: 'system', content: `You are brief. ${filler}` },
      { role: 'user', content: instruction },
    ],
  }));
}

/** 1 KB of JSON: `build` receives a filler text of the needed length. */
function padded(build) {
  const textOf = (filler) => JSON.stringify(build(filler));
  return textOf('b'.repeat(BYTES - textOf('').length));
}

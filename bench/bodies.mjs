/** What the bench's clients send: one call of 1 KB, in the shapes upstream.mjs understands. */

const CALL_BYTES = 1024;

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

/** What the bench's clients send: one chat completion call of about 1 KB, in the shapes upstream.mjs understands. */

const CALL_BYTES = 1024;

/** A call that is answered by 1 KB of JSON. */
export function jsonCall() {
  return callWith('Say something short.', {});
}

/** A streamed call answered by `chunks` content chunks, one every `intervalMs`. */
export function streamCall(chunks, intervalMs) {
  return callWith(`bench-stream-${chunks}-${intervalMs}`, { stream: true });
}

function callWith(instruction, members) {
  const build = (filler) =>
    JSON.stringify({
      model: 'gpt-4.1',
      ...members,
      max_tokens: 400,
      messages: [
        { role: 'system', content: `You are brief. ${filler}` },
        { role: 'user', content: instruction },
      ],
    });
  return build('b'.repeat(CALL_BYTES - build('').length));
}

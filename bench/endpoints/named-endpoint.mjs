/** The endpoint that the bench calls: five members of its own, one of them an object of objects, and a cap. */

const MODEL = 'gpt-4.1';
const PARAMS = {
  instructions: 'Answer in one sentence, in the language of the question.',
  temperature: 0.2,
  top_p: 0.9,
  metadata: { feature: 'bench' },
  text: { format: { type: 'text' } },
};

/**
 * Style `responses`; its calls need not name a model or a cap.
 *
 * @param {string} provider slug of the primary target's
 * @param {string[]} [fallback] slugs of the others'
 */
export function namedEndpoint(provider, fallback = []) {
  return {
    api_style: 'responses',
    provider,
    model: MODEL,
    params: PARAMS,
    max_output_tokens: 800,
    fallback: fallback.map((slug) => ({ provider: slug, model: MODEL })),
  };
}

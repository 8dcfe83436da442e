import { OneOf, Text } from '../../common/fields/fields.js';
import { SNIPPET_LANGUAGES, type SnippetLanguage } from '../snippets/snippet-target.rules.js';

export class AppSnippetRequest {
  @OneOf(SNIPPET_LANGUAGES, {
    optional: true,
    description: '`curl` when absent. `swift` and `kotlin` are for mobile applications.',
  })
  readonly language?: SnippetLanguage;

  @Text({ max: 63, optional: true, description: 'Slug of the provider to call. Not with `endpoint`.' })
  readonly provider?: string;

  @Text({
    max: 64,
    optional: true,
    description: 'Slug of the named endpoint to call. Without both: the first provider that can be called.',
  })
  readonly endpoint?: string;
}

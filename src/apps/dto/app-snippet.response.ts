import { ApiProperty } from '@nestjs/swagger';

/** A call of an application, as source text. */
export interface Snippet {
  readonly language: 'shell' | 'swift' | 'kotlin';
  readonly snippet: string;
  readonly notes: readonly string[];
}

export class AppSnippetResponse implements Snippet {
  @ApiProperty({ type: 'string', enum: ['shell', 'swift', 'kotlin'] })
  language: Snippet['language'];

  @ApiProperty({ type: 'string', description: 'Without credentials: variables stand for them.' })
  snippet: string;

  @ApiProperty({ type: [String], description: 'What to fill in, and what to know.' })
  notes: readonly string[];

  static from({ language, snippet, notes }: Snippet): AppSnippetResponse {
    return Object.assign(new AppSnippetResponse(), { language, snippet, notes });
  }
}

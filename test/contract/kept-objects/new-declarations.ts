/** Members of the kinds that the test must find, as a future SDK might declare them. */
interface Grounding {
  knowledgeStore: string;
  depth: number;
}

interface NewCall {
  type: 'new_call';
  id: string;
}

interface KnownCall {
  type: 'function_call';
  id: string;
  file_id: string;
}

interface NewParams {
  input: (NewCall | KnownCall)[];
  recording_id?: string | null;
  webhook?: { url: string };
  tools?: { grounding?: Grounding }[];
  temperature: number;
}

export interface Requests {
  future: NewParams;
}

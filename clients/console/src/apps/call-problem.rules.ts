import type { UsageEvent } from '../usage/status-badges';

/** Where to fix the cause of a failed call. */
export type Remedy = 'provider' | 'key' | 'model' | 'limits' | 'proxy' | 'settings' | 'none';

/** Why a call failed, in words, and where to fix it. */
export interface CallProblem {
  readonly text: string;
  readonly remedy: Remedy;
}

const MOST_CHARACTERS = 300;
/** Gemini answers a wrong key with 400. */
const KEY = /\bapi[ _-]?key\b/i;

/** Refusals of the gateway itself. Source: docs/errors.md. */
const OWN: Readonly<Record<string, CallProblem>> = {
  auth_required: {
    text: 'The gateway does not accept the key or token of the application. Use another one.',
    remedy: 'key',
  },
  pricing_not_configured: {
    text: 'The model has no price, so its cost could not be counted. Choose a model that has one, or set its price at the provider.',
    remedy: 'model',
  },
  model_not_allowed: {
    text: 'The application does not allow this model. Choose another one, or allow it.',
    remedy: 'proxy',
  },
  path_not_allowed: { text: 'The application does not allow this path of the provider.', remedy: 'proxy' },
  max_output_tokens_exceeded: {
    text: 'The call asks for more output tokens than the application allows.',
    remedy: 'proxy',
  },
  app_disabled: { text: 'The application is disabled. Enable it in its settings.', remedy: 'settings' },
  app_not_found: { text: 'The application was deleted. Create another one.', remedy: 'none' },
  app_rate_limited: {
    text: 'A request limit of the application is reached. Wait, or raise the limit.',
    remedy: 'limits',
  },
  app_budget_exhausted: { text: 'The budget of the application is used up. Raise it.', remedy: 'limits' },
  provider_disabled: { text: 'The provider is disabled. Enable it.', remedy: 'provider' },
  provider_not_configured: { text: 'The application cannot reach this provider.', remedy: 'provider' },
  provider_unavailable: { text: 'The key of the provider cannot be used. Enter it again.', remedy: 'provider' },
  provider_error: {
    text: 'The provider could not be reached. Check its address, and the network of the gateway.',
    remedy: 'provider',
  },
};

/** Why a response is not a success; undefined if it is one. */
export function problemOfAnswer(status: number, text: string): CallProblem | undefined {
  if (status >= 200 && status < 300) {
    return text === '' ? { text: 'The answer has no text. Try another model.', remedy: 'model' } : undefined;
  }
  const { code, message } = errorOf(text);
  const own = code === undefined ? undefined : OWN[code];
  if (own !== undefined) return own;
  const says = message === '' ? '' : ` It says: “${message}”`;
  if (status === 401 || status === 403 || KEY.test(message)) {
    return { text: `The provider refuses its key. Correct the key.${says}`, remedy: 'provider' };
  }
  if (status === 404) return { text: `The provider does not know this model. Choose another.${says}`, remedy: 'model' };
  if (status === 429) {
    return {
      text: `The provider accepts no more calls now: its limit or your credit is used up.${says}`,
      remedy: 'none',
    };
  }
  if (status >= 500) return { text: `The provider failed (status ${status}). Try again.${says}`, remedy: 'none' };
  return { text: `The call was refused (status ${status}).${says}`, remedy: 'model' };
}

/** Why a recorded call is not a success; undefined if it is one. */
export function problemOfEvent({ status }: Pick<UsageEvent, 'status'>): CallProblem | undefined {
  return EVENTS[status];
}

const EVENTS: Readonly<Partial<Record<UsageEvent['status'], CallProblem>>> = {
  provider_error: {
    text: 'A call arrived, and the provider answered it with an error. The caller received the provider’s message; most often the key or the model is wrong.',
    remedy: 'provider',
  },
  blocked_app_rate: {
    text: 'A call arrived, and was refused: a request limit of the application is reached.',
    remedy: 'limits',
  },
  blocked_app_budget: {
    text: 'A call arrived, and was refused: the budget of the application is used up.',
    remedy: 'limits',
  },
  blocked_user: { text: 'A call arrived, and was refused: its user is blocked.', remedy: 'none' },
  blocked_billing: {
    text: 'A call arrived, and was refused: the plan of the organization is used up.',
    remedy: 'none',
  },
};

/** Code and message of a refusal: of this gateway, or in one of the formats of providers. */
function errorOf(text: string): { readonly code: string | undefined; readonly message: string } {
  const json = parsed(text);
  const body = Object(json);
  const error = Array.isArray(body) ? Object(body[0]).error : body.error;
  const { code, message } = typeof error === 'object' && error !== null ? error : { code: undefined, message: error };
  const said = [message, body.message].find((words) => typeof words === 'string') ?? (json === undefined ? text : '');
  return {
    code: typeof code === 'string' ? code : undefined,
    message: shortened(said.trim()),
  };
}

/** HTML pages of proxies are not shown to people. */
function shortened(text: string): string {
  if (text.startsWith('<') || text.startsWith('{')) return '';
  return text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}…` : text;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

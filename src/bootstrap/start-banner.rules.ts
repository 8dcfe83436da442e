/** Who may register: the first user only, anyone, or invited users only. */
type SignUpAccess = 'first person' | 'anybody' | 'closed';

/** The content of the start banner. */
interface StartedService {
  /** Where browsers find the console. */
  readonly consoleUrl: string;
  /** Listening address, such as `http://127.0.0.1:8080`. */
  readonly url: string;
  readonly hasAccount: boolean;
  readonly signUpAccess: SignUpAccess;
  /** Whether `HOST` lets other machines in and `PUBLIC_URL` does not say under which origin. */
  readonly isPublicUrlMissing: boolean;
}

const SIGN_UP_PATH = '/signup';

const FIRST_ACCOUNT = `
  There is no account yet. To create one without an owner, stop the gateway and start it once with a management key of
  your choice in this setting:
    BOOTSTRAP_MANAGEMENT_KEY=gw_mgmt_<48 random letters and digits>
`;

const CLAIM = `
  Anyone who registers with the value of BOOTSTRAP_MANAGEMENT_KEY as the bootstrap key owns the account that it opened.
`;

/** Source: RFC 6890 2.2.2 and 2.2.3. */
const LOOPBACK_HOST = /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/i;

/** Whether a listening address is reached from this machine alone. @param host the setting `HOST`. */
export function isLoopbackHost(host: string): boolean {
  return LOOPBACK_HOST.test(host);
}

/**
 * Who may register now.
 *
 * @param isOpen whether registration is open; @param isOpenToAll whether the setting keeps it open to anyone.
 */
export function signUpAccessOf(isOpen: boolean, isOpenToAll: boolean): SignUpAccess {
  if (isOpenToAll) return 'anybody';
  return isOpen ? 'first person' : 'closed';
}

/** The start banner: addresses, and the available ways to create or claim an organization. */
export function startBanner(service: StartedService): string {
  const { consoleUrl, url, hasAccount, signUpAccess, isPublicUrlMissing } = service;
  return `
  The gateway is ready.
    Console      ${consoleUrl}
    API          ${url}
    Description  ${url}/openapi.json
    Health       ${url}/v1/healthz
${isPublicUrlMissing ? noPublicUrl(consoleUrl) : ''}${hasAccount ? '' : FIRST_ACCOUNT}${signUp(consoleUrl, signUpAccess)}${hasAccount && signUpAccess === 'first person' ? CLAIM : ''}
`;
}

function noPublicUrl(consoleUrl: string): string {
  return `
  PUBLIC_URL is not set, but HOST accepts other machines: the console works at ${consoleUrl} only. Set
  PUBLIC_URL to the origin that browsers use, such as https://gateway.example.com.
`;
}

function signUp(consoleUrl: string, signUpAccess: SignUpAccess): string {
  if (signUpAccess === 'closed') return '';
  const who =
    signUpAccess === 'anybody'
      ? 'Anyone who can reach the gateway may register, and gets their own organization:'
      : 'Nobody has registered yet. The first person who does gets an organization, and closes registration:';
  return `
  ${who}
    ${consoleUrl}${SIGN_UP_PATH}
`;
}

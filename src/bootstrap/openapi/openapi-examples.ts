import type { ExampleSource } from './openapi-examples.rules.js';

const USER = 'user_0a1b2c3d4e5f6g7h8i9j';
const ORGANIZATION = 'org_0a1b2c3d4e5f6g7h8i9j';
const SESSION = 'session_0a1b2c3d4e5f6g7h8i9j';
const APP = 'travel-journal-k3x9qa';
const KEY = 'key_0a1b2c3d4e5f6g7h8i9j';
const PROVIDER = '6f1c0d0e-7a3b-4c57-9c1d-2f6f0a9b8e21';
const INVITATION_TOKEN = 'Zk3vQ8sT1yXw5RbN7mLc2HdJ4gFp6Ua9eKo0iVtBxMzPqWnY';
const PASSWORD = 'correct horse battery staple';
const OPERATION = `op:${'0a1b2c3d'.repeat(8)}`;
const AUTHORIZATION = `oauth-${'0a1b2c3d'.repeat(8)}`;
const CLIENT_ID = 'https://client.example.com/oauth/client.json';
const PROOF = 'e0d1c2b3'.repeat(8);
const TERMINAL = { label: 'Ada’s laptop', os: 'linux' };
const MODEL = 'gpt-4.1-mini';
const PERSON = { id: USER, name: 'Ada Lovelace' };
const CREDENTIAL = 'YW4taWQtb2YtYS1wYXNza2V5';
const FRAMEWORK_KEY = { client_id: APP, key_id: 'AxCwU6+xIRSh7toFoLz9KfoJMMM85YMSqcRQej4d8uw=' };
const CONNECTION = { name: 'Edge of Europe' };

/** Example values by member name. Exceptions are in `MEMBERS`. */
const WORDS: ExampleSource['words'] = {
  allowed_origins: ['https://app.example.com'],
  ...{ streams: { resume_seconds: 120, max_bytes: 1_048_576 } },
  ...{ name: 'Travel journal', label: null, email: 'ada@example.com', token: INVITATION_TOKEN },
  ...{
    invitedBy: USER,
    createdBy: USER,
    userId: USER,
    organizationId: ORGANIZATION,
    organizationName: 'Analytical Engines',
  },
  ...{ bootstrapKey: 'gw_mgmt_0a1b2c3d4e5f6g7h8i9j0k1l2m3n4o5p6q7r8s9t0u1v2w3x' },
  ...{ password: PASSWORD, currentPassword: PASSWORD, newPassword: 'staple battery horse correct' },
  ...{ app_id: APP, appId: APP, user_id: 'customer-4711', api_key_id: KEY, last_seen_at: '2026-01-31T12:00:00.000Z' },
  ...{ secret: 'sk-0a1b2c3d4e5f6g7h8i9j', secretHint: '8i9j', slug: 'openai', provider_id: PROVIDER },
  ...{ accountId: '0a1b2c3d4e5f', gatewayId: 'main', provider_gateway_id: null, provider_gateway_type: null },
  ...{
    provider: 'openai',
    provider_slug: 'openai',
    model: MODEL,
    fixed_model: MODEL,
    author: 'openai',
    model_author: 'openai',
  },
  inferencePaths: ['v1/responses', 'v1/chat/completions'],
  ...{ referenced_providers: ['openai'], apple_bundle_id: 'com.example.journal' },
  ...{ route: 'v1/chat/completions', app_version: '1.4.0', month: '2026-01', outcome: 'ok' },
  ...{ path: 'v1/responses', user_id_claim: 'sub', team_id: 'ABCDE12345', bundle_id: 'com.example.journal' },
  ...{ key_id: 'wG2Yh0pTz5m1sQe7', attestation: 'o2NmbXRvYXBwbGUtYXBwYXR0ZXN0', assertion: 'omlzaWduYXR1cmVYRzBF' },
  ...{
    public_key: 'MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE…',
    integrity_token: 'eyJhbGciOiJBMjU2S1ciLCJlbmMiOiJBMjU2R0NNIn0.a.b.c.d',
  },
  ...{ challenge: 'a1b2c3d4-e5f6-4711-8899-aabbccddeeff', issuer_token: 'eyJhbGciOiJSUzI1NiJ9.e30.c2ln' },
  ...{ api_key: 'gw_Ab3dE6gH9kLmN0pQrStUvWxYz12345678', access_token: 'eyJhbGciOiJIUzI1NiJ9.e30.c2ln' },
  ...{ requests: 128, input_tokens: 20_480, cached_input_tokens: 0 },
  ...{
    cache_write_tokens: 0,
    output_tokens: 4_096,
    cost_usd: 0.0147,
    estimated_cost_usd: 0,
    latency_ms: 840,
    duration_ms: 2_310,
    errors: 0,
  },
  ...{ cursor: 'WyJjb3N0IiwiMTQ3MDAwMDAiLCJjdXN0b21lci00NzExIl0', next_cursor: null, app_name: 'Travel journal' },
  warnings: ['key_attestation (observe) is looser than app_attest (enforce).'],
  ...{ nextBeforeId: null, limitations: ['No provider was called.'], per_minute: 10, per_day: 300, monthly_usd: 5 },
  ...{ snippet: 'curl -sS …', notes: ['APP_KEY is a key of the application.'] },
  ...{ clientDataJSON: 'eyJ0eXBlIjoid2ViYXV0aG4uZ2V0In0', attestationObject: 'o2NmbXRkbm9uZQ' },
  ...{ authenticatorData: 'SZYN5YgOjGh0NBcPZHZgW4', signature: 'MEUCIQDx0aGVzaWduYXR1cmU' },
  userHandle: 'dXNlcl8wYTFiMmMzZDRl',
  ...{ hasProblems: false, termsOfServiceUrl: null, privacyPolicyUrl: null, error: null },
};

const BUDGET_EVENT = {
  ...{ group: null, window: 'month', period_start: '2026-01-01T00:00:00.000Z', threshold: 1 },
  ...{ budget_usd: 5, spent_usd: 4.75, estimated_usd: 0.25 },
};
const ORGANIZATION_CHOICE = { id: ORGANIZATION, name: 'Analytical Engines', role: 'owner' };
const ISSUED_KEY = { id: KEY, name: 'Backend', key_prefix: 'gw_Ab3dE6gH9', created_at: '2026-01-31T12:00:00.000Z' };
const WEBHOOK = { url: 'https://hooks.example.com/gateway', name: 'Security', events: ['app_key.*'], apps: null };
const APP_WRITE = { name: 'Travel journal', status: 'active' };

/** Example values of single schemas, and optional members that requests show. */
const MEMBERS: ExampleSource['members'] = {
  SessionUser: PERSON,
  FrameworkChallengeRequest: FRAMEWORK_KEY,
  FrameworkRegisterRequest: { ...FRAMEWORK_KEY, attestation_object: 'o2NmbXRvYXBwbGUtYXBwYXR0ZXN0' },
  FrameworkTokenRequest: FRAMEWORK_KEY,
  FrameworkTokenResponse: { next_challenge: 'AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8' },
  ProofAttemptsResponse: { proof: 'key_attestation', ok: 120, would_reject: 3, refused: 0 },
  LostAttemptsResponse: { proof: 'key_attestation', reason: 'os_patch_too_old', attempts: 3 },
  OwnSessionResource: {
    ...{ id: SESSION, current: true, ipAddress: '198.51.100.7' },
    userAgent: 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
  },
  RevokeSessionRequest: { id: SESSION },
  PasskeyResource: { name: 'Laptop' },
  RegisterPasskeyRequest: { name: 'Laptop', id: CREDENTIAL },
  PasskeySignInRequest: { id: CREDENTIAL },
  RecoverRequest: { code: '3abc-defg-hijk-0123' },
  RecoveryCodesResponse: { codes: ['3abc-defg-hijk-0123'] },
  ResetPasswordRequest: { token: INVITATION_TOKEN },
  IssuedPasswordResetResponse: { url: `https://gateway.example.com/reset#${INVITATION_TOKEN}` },
  AuditedChangeResponse: { from: 300, to: 500, redacted: false },
  AuditFacetsResponse: { actions: ['app.replaced'] },
  AuditedPersonResponse: { ...PERSON, kind: 'human' },
  RevokedSessionsResponse: { revoked: 2 },
  SessionActor: { id: USER, credentialId: null },
  AuditActorResponse: PERSON,
  AuditTargetResponse: { id: APP },
  DeploymentInstanceResponse: { id: 'i-0a1b2c3d', host: 'gateway-1', pid: 4711, version: '1.0.0', clockAheadMs: 3 },
  DeploymentSettingResponse: { name: 'PUBLIC_URL', value: 'https://gateway.example.com' },
  DeploymentResponse: { version: '1.0.0', node: '24.21.0', pendingEvents: 0 },
  MaintenanceRunResponse: { outcome: 'done' },
  OrganizationResource: { id: ORGANIZATION, name: 'Analytical Engines' },
  ModelResponse: { id: MODEL, owned_by: 'OpenAI' },
  OrganizationNameRequest: { name: 'Analytical Engines' },
  Member: PERSON,
  CreateInvitationRequest: { role: 'member', email: 'grace@example.com' },
  Invitation: { role: 'member', email: 'grace@example.com' },
  WrittenInvitationResponse: { url: `https://gateway.example.com/invite#${INVITATION_TOKEN}` },
  InvitationDetailsResponse: { role: 'member', email: 'grace@example.com' },
  JoinedOrganizationResponse: { role: 'member' },
  OpenLoginRequest: { client: TERMINAL },
  LoginResponse: {
    id: OPERATION,
    url: `https://gateway.example.com/cli/approve/${encodeURIComponent(OPERATION)}#${PROOF}`,
    userCode: 'ABCD-EFGH',
  },
  CreateOperationRequest: {
    ...{ kind: 'provider.add', browser: true },
    payload: { type: 'openai', name: 'OpenAI' },
  },
  CliCapabilitiesResponse: { protocolVersion: 1, serverVersion: '0.1.0' },
  OfferedProvider: { name: 'OpenAI', baseUrl: 'https://api.openai.com/' },
  OfferedGateway: { name: 'Vercel AI Gateway' },
  AccountAppUsageResponse: { firstRecord: '2026-01-03' },
  UsageCoverage: { firstRecord: '2026-01-03' },
  CliAccountResponse: { usage: null },
  RedeemLoginRequest: { redeemCode: INVITATION_TOKEN },
  HandedOverCredential: { token: 'gw_mgmt_0a1b2c3d4e5f6g7h8i9j0k1l2m3n4o5p6q7r8s9t0u1v2w3x' },
  OperationFailureResponse: {
    ...{ code: 'slug_taken', message: 'slug: "openai" is already used by another provider; choose another slug.' },
  },
  OperationResponse: { id: OPERATION, kind: 'login', state: 'completed', result: { accountId: ORGANIZATION } },
  ChangeOperationResponse: {
    ...{ id: OPERATION, kind: 'app.key.add', state: 'completed', result: { appId: APP, api_key: ISSUED_KEY } },
    reveal_url: `https://gateway.example.com/reveal/${encodeURIComponent(OPERATION)}`,
  },
  RevealedOperationResponse: {
    ...{ id: OPERATION, kind: 'app.key.add' },
    result: { appId: APP, api_key: { ...ISSUED_KEY, key: 'gw_Ab3dE6gH9kLmN0pQrStUvWxYz12345678' } },
  },
  DeploymentResource: {
    id: PROVIDER,
    apiUrl: 'https://gateway.example.com',
    consoleOrigin: 'https://gateway.example.com',
  },
  UserCodeRequest: { userCode: 'ABCD-EFGH' },
  SubmissionRequest: { submissionToken: PROOF },
  SubmitHandoffRequest: { submissionToken: PROOF, approve: true, organizationId: ORGANIZATION },
  RegisterForHandoffRequest: { submissionToken: PROOF, name: 'Ada Lovelace' },
  HandoffDetailsResponse: {
    ...{ kind: 'login', payload: {}, account: null, blockedBy: null, userCode: 'ABCD-EFGH' },
    client: { ...TERMINAL, ip: '198.51.100.7', requestedAt: '2026-01-31T12:00:00.000Z' },
    organizations: [ORGANIZATION_CHOICE],
  },
  SubmittedHandoffResponse: { message: 'Your terminal is logged in. Return to it.', continueTo: 'cli' },
  DeniedHandoffResponse: { message: 'Declined. Nothing was changed.' },
  ConsentRequest: { submissionToken: PROOF },
  AllowConsentRequest: { submissionToken: PROOF, organizationId: ORGANIZATION, grant: 'read' },
  ConsentClient: { id: CLIENT_ID, name: 'A chat client', domain: 'client.example.com', source: 'cimd' },
  ConsentAccount: ORGANIZATION_CHOICE,
  ConsentDetailsResponse: { id: AUTHORIZATION, redirectHost: '127.0.0.1:49152', blockedBy: null },
  ConsentRedirectResponse: {
    redirect: 'http://127.0.0.1:49152/callback?code=0a1b2c3d&state=7&iss=https%3A%2F%2Fgateway.example.com',
  },
  SessionResource: { id: 'session_0a1b2c3d4e5f6g7h8i9j' },
  UserResource: PERSON,
  SignUpRequest: { name: 'Ada Lovelace' },
  UpdateUserRequest: { name: 'Ada Lovelace', image: null },
  SocialSignInRequest: { callbackURL: '/apps' },
  SocialSignInResponse: { url: 'https://accounts.google.com/o/oauth2/v2/auth?client_id=client-1' },
  ManagementKeyResource: { name: 'Deployment', label: null },
  CreatedManagementKeyResource: { name: 'Deployment', label: null },
  CreateWebhookRequest: WEBHOOK,
  UpdateWebhookRequest: WEBHOOK,
  WebhookResource: WEBHOOK,
  UpdateMailRequest: { events: ['app_key.*', 'member.joined'] },
  MailResource: { address: 'ada@example.com', events: ['app_key.*', 'member.joined'] },
  SentDeliveryResponse: {
    body: '{"type":"app_key.created","timestamp":"2026-11-28T12:00:00.000Z","data":{"account":"account-4f0c2a"}}',
  },
  DeletedWebhookResponse: { webhook_id: 'wh_0a1b2c3d4e5f6g7h8i9j' },
  EventActor: { id: USER, source: 'web' },
  AuditedEventData: { app: null, details: { name: 'Deployment' }, changes: null },
  BudgetEventData: { app: APP, ...BUDGET_EVENT },
  LimitEventData: { app: APP, period_start: '2026-01-31T00:00:00.000Z', limit: 'requests', window: 'day' },
  EventProvider: { id: PROVIDER, name: 'OpenAI' },
  ProviderEventData: { reason: 'errors', calls: 24, errors: 13 },
  RisingEventData: { app: APP, period_start: '2026-01-31T12:00:00.000Z', count: 63, usual: 4.5 },
  DeviceEventData: { app: APP },
  DeliveryResource: { event_id: 'evt_0a1b2c3d4e5f6g7h8i9j0k1l2m3n4o5p', status: 'delivered', next_attempt_at: null },
  CreateManagementKeyRequest: { name: 'Deployment', grant: 'manage' },
  ProviderResource: { name: 'OpenAI', route: 'direct', gatewayRoute: null, baseUrl: null },
  ProviderUserResponse: { id: APP },
  UsedProviderResponse: { errors: 2, lastSuccessDay: '2026-01-31', appCount: 1 },
  ProviderUseResponse: { from: '2026-01-25', to: '2026-01-31' },
  CreateProviderRequest: { name: 'OpenAI', slug: 'openai', secret: 'sk-0a1b2c3d4e5f6g7h8i9j' },
  TestProviderRequest: { secret: 'sk-0a1b2c3d4e5f6g7h8i9j' },
  UpdateProviderRequest: { status: 'disabled', revision: 1 },
  CfAigProviderGateway: CONNECTION,
  VercelProviderGateway: CONNECTION,
  CreateCfAigGatewayRequest: CONNECTION,
  CreateVercelGatewayRequest: CONNECTION,
  RenameGatewayRequest: { ...CONNECTION, revision: 1 },
  RotateGatewayRequest: { revision: 1 },
  DeletedProviderGatewayResponse: { provider_gateway_id: PROVIDER },
  AppKeyResponse: { name: 'Server' },
  PutPlayCredentialsRequest: {
    service_account: {
      ...{ type: 'service_account', private_key_id: '0a1b2c3d4e5f', private_key: '-----BEGIN PRIVATE KEY-----…' },
      client_email: 'integrity@example.iam.gserviceaccount.com',
    },
  },
  PlayCredential: { hint: 'integrity@example.iam.gserviceaccount.com' },
  CreateAppKeyRequest: { name: 'Server', expires_at: '2027-01-31T12:00:00Z' },
  IssuedAppKeyResponse: { name: 'Server', key: 'gw_Ab3dE6gH9kLmN0pQrStUvWxYz12345678' },
  RevokedAppKeyResponse: { key: KEY },
  UsageShareResponse: { key: MODEL },
  AccountShareResponse: { key: MODEL },
  SeriesBucketResponse: { start: '2026-01-31', key: 'openai' },
  LatencyBucketResponse: { start: '2026-01-31' },
  RefusalResponse: {
    ...{ code: 'model_not_allowed', reason: null, message: 'The application does not allow the model "gpt-5".' },
  },
  AccountEventsResponse: { next: null },
  UserResponse: { id: 'customer-4711' },
  AttentionItemResponse: {
    id: PROVIDER,
    name: 'OpenAI',
    app_id: null,
    app_name: null,
    amount_usd: null,
    budget_usd: null,
  },
  AppSummaryResponse: { id: APP, providers: ['openai'] },
  AppResource: { id: APP },
  AppConfig: {
    authentication: { type: 'api_key', end_user: { source: 'header', header: 'x-end-user-id' } },
    routing: { providers: { mode: 'all' }, model_rewrites: {} },
    limits: { per_user: { requests: { per_minute: 10, per_day: 300 }, spending: { monthly_usd: 5 } } },
  },
  CreateAppRequest: APP_WRITE,
  ReplaceAppRequest: APP_WRITE,
  ValidateAppRequest: APP_WRITE,
  RepriceUsageRequest: { apply: false },
  SettleEstimatesRequest: { cost: 'zero', filter: { provider: 'openai', status: 'provider_error' }, apply: false },
};

/** The example inputs except the schemas. */
export const EXAMPLES = { words: WORDS, members: MEMBERS };

/** Example bodies in third-party formats, by operation id. */
export const FOREIGN_BODIES: Readonly<Record<string, { readonly request?: unknown; readonly answer?: unknown }>> = {
  proxyProviderRequest: { request: { model: MODEL, messages: [{ role: 'user', content: 'Good morning.' }] } },
  callNamedEndpoint: { request: { input: 'Good morning.' } },
  getMetrics: { answer: '# TYPE gateway_requests_total counter\n' },
};

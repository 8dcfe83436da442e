/** What a reason means, and what an operator does about it. */
interface ReasonEntry {
  readonly means: string;
  readonly advice: string;
}

/**
 * Every reason of a refusal, for `docs/reasons.md`. A reason is for the log and the authentication events only; clients
 * get the code and the message of {@link ERRORS}.
 */
export const REASONS = {
  account_claimed: {
    means: 'Somebody owns this account already, so nobody else can claim it.',
    advice: 'Ask an owner for an invitation.',
  },
  account_exists: {
    means: 'The deployment has an account already, so a terminal or an AI client cannot open the first one.',
    advice: 'Log in to the account instead.',
  },
  account_not_chosen: {
    means: 'The person belongs to several accounts and approved a login without choosing one.',
    advice: 'The person must choose an account on the page.',
  },
  address_limit_reached: {
    means: 'One address called a public route too often.',
    advice: 'Wait for `Retry-After`. If all clients share one address, set `TRUSTED_PROXIES`.',
  },
  alg_mismatch: {
    means: 'The identity token is signed with an algorithm that is not accepted, or that does not match its key.',
    advice: 'Configure the identity provider to sign with RS256, PS256, ES256, ES384, ES512 or EdDSA.',
  },
  api_key_on_attestation_app: {
    means: 'An API key was sent to the token exchange of an application that accepts device proofs.',
    advice: 'Send the proof of a device, or change the authentication of the application.',
  },
  app_config_unreadable: {
    means: 'This version cannot read the stored configuration of the application.',
    advice: 'Read the application, correct its configuration, replace it.',
  },
  app_day_token_limit_reached: {
    means: 'The application has reached its limit of tokens per UTC day.',
    advice: 'Raise `limits`, or wait for `Retry-After`.',
  },
  app_deleted: {
    means: 'The application was deleted while the request ran.',
    advice: 'Nothing.',
  },
  app_id_exhausted: {
    means: 'No free id was found for the name of a new application.',
    advice: 'Choose another name.',
  },
  app_key_expired: {
    means: 'The API key, or the one behind the gateway token, is past its `expires_at`.',
    advice: 'Issue a new key and give it to the backend.',
  },
  app_key_invalid: {
    means: 'The API key is unknown, revoked or of another application.',
    advice: 'Give the backend an active key of this application.',
  },
  app_minute_token_limit_reached: {
    means: 'The application has reached its limit of tokens per minute.',
    advice: 'Raise `limits`, or wait for `Retry-After`.',
  },
  app_mismatch: {
    means: 'The team or bundle id of the device proof is not that of the application.',
    advice: 'Compare them with `app_attest` in the configuration.',
  },
  app_tokens_held: {
    means: 'The rest of a limit of tokens of the application is held by calls in progress.',
    advice: 'Set `max_output_tokens` to make holds smaller, or raise the limit.',
  },
  app_version_missing: {
    means: 'A call with a gateway token had no `X-App-Version`.',
    advice: 'The app must send the header.',
  },
  app_version_too_low: {
    means: '`X-App-Version` is below `authentication.min_app_version`, absent, or not dotted numbers.',
    advice: 'The user updates the app. If the app is new, let it send its version as dotted numbers.',
  },
  app_without_keys: {
    means: 'The request concerns API keys, but the application uses none.',
    advice: 'Set its authentication to `api_key`, or use device proofs.',
  },
  app_without_users: {
    means: 'The application does not tell users apart.',
    advice: 'Set `authentication.end_user` if you need users.',
  },
  app_budget_held: {
    means: 'The rest of a budget of the application is held by calls in progress.',
    advice: 'Set `max_output_tokens` to make holds smaller, or raise the budget.',
  },
  app_budget_spent: {
    means: 'A budget of the application is spent.',
    advice: 'Raise it, or wait for the next period; `data.window` names it.',
  },
  app_day_limit_reached: {
    means: 'The application has reached its limit of requests per UTC day.',
    advice: 'Raise `limits`, or wait for `Retry-After`.',
  },
  app_minute_limit_reached: {
    means: 'The application has reached its limit of requests per minute.',
    advice: 'Raise `limits`, or wait for `Retry-After`.',
  },
  attestation_certificates_invalid: {
    means: 'The device proof does not contain the two required certificates.',
    advice: 'The app must send what the system returned, unchanged.',
  },
  attestation_format_unknown: {
    means: 'The device proof is not in the format of App Attest.',
    advice: 'The app must send what the system returned, unchanged.',
  },
  attestation_receipt_missing: {
    means: 'The device proof has no receipt.',
    advice: 'The app must send what the system returned, unchanged.',
  },
  attestation_root_not_in_force: {
    means: 'No trusted root certificate of device attestation is valid now.',
    advice: 'Correct the clock of the database, or replace `APP_ATTEST_ROOT_CA_FILE`.',
  },
  audience_mismatch: {
    means: 'The identity token is for another audience.',
    advice:
      'Compare `audience` in the configuration with `aud` in the token. If all tokens fail, the configuration is ' +
      'wrong.',
  },
  authenticator_data_invalid: {
    means: 'The signed data of the device proof are malformed.',
    advice: 'The app must send what the system returned, unchanged.',
  },
  authorization_expired: {
    means: 'The request of an OAuth client expired before anyone decided on it.',
    advice: 'Start again in the client.',
  },
  authorization_unknown: {
    means: 'The link of a consent page names an unknown request.',
    advice: 'Start again in the client.',
  },
  bad_signature: {
    means: 'The identity token is malformed, or its signature is not that of the key it names.',
    advice: 'Check `jwks_url`. Single tokens may be forged.',
  },
  belongs_to_another_account: {
    means: 'A member of an account tried to claim another one.',
    advice: 'Sign in as a person without an account.',
  },
  body_truncated: {
    means: 'The client ended the connection before the body was complete.',
    advice: 'Nothing, unless there are many: then look at the client, its network, and limits of proxies.',
  },
  body_undecodable: {
    means: 'The body of a call does not match its `Content-Encoding`, or is incomplete.',
    advice: 'The client must send the complete output of its compressor, or no `Content-Encoding`.',
  },
  bootstrap_is_not_polled: {
    means: 'A terminal polled the creation of the first account, which cannot be polled.',
    advice: 'Repeat the creation instead.',
  },
  bootstrap_key_unknown: {
    means: 'The `bootstrapKey` presented is not that of an account without an owner.',
    advice: 'Use the value of `BOOTSTRAP_MANAGEMENT_KEY`.',
  },
  bootstrap_retired: {
    means: 'A terminal asked for the key of the first account, which already has an owner.',
    advice: 'Log in with the terminal.',
  },
  budget_asked_too_long: {
    means: 'Postgres did not grant a part of a budget in time.',
    advice: 'Check Postgres; see `budget_write_failed` in the log.',
  },
  budget_not_reached: {
    means: 'Postgres could not be asked for a part of a budget.',
    advice: 'Check Postgres; see `budget_write_failed` in the log.',
  },
  bundle_version_too_low: {
    means: 'The signed bundle version of the app is below `min_bundle_version`.',
    advice: 'The user updates the app.',
  },
  bundle_version_unreadable: {
    means: 'The signed bundle version is no dotted numbers, and `require_signals` is set.',
    advice: 'Give the app a `CFBundleVersion` of dotted numbers.',
  },
  category_not_allowed: {
    means: 'The app came onto the device in a way that `allowed_categories` does not name.',
    advice: 'See `category` in the facts of the event; name it if you distribute the app so.',
  },
  cbor_invalid: {
    means: 'The device proof is not valid CBOR.',
    advice: 'The app must send what the system returned, unchanged.',
  },
  certificate_authority_invalid: {
    means: 'The leaf certificate of the device proof claims to be an authority, or one above it does not.',
    advice: 'Nothing: such a proof is forged.',
  },
  certificate_issuer_mismatch: {
    means: 'The certificates of the device proof do not belong together.',
    advice: 'The app must send what the system returned, unchanged.',
  },
  certificate_not_in_force: {
    means: 'A certificate of the device proof is not valid now.',
    advice: 'Check the clock of the database; see `clock_differs`.',
  },
  certificate_signature_invalid: {
    means: 'The signature of a certificate of the device proof is wrong.',
    advice: 'Nothing: such a proof is forged.',
  },
  certificate_unreadable: {
    means: 'A certificate of the device proof cannot be parsed.',
    advice: 'The app must send what the system returned, unchanged.',
  },
  certificate_revoked: {
    means: 'The vendor revoked or suspended a certificate of the Android key: it leaked, or is suspected to have.',
    advice:
      'Nothing: an emulator can hold such a key. A suspended one is valid again when the vendor lifts the suspension.',
  },
  certificate_untrusted: {
    means: 'The certificates of the device proof do not lead to a trusted root.',
    advice:
      'Nothing for genuine devices, unless `APP_ATTEST_ROOT_CA_FILE` or `ANDROID_ATTESTATION_ROOTS_FILE` names other roots.',
  },
  challenge_not_in_force: {
    means: 'The challenge was not issued for this application, was used, or is older than five minutes.',
    advice: 'The app must ask for a new challenge for every proof.',
  },
  claims_missing: {
    means: 'The identity token lacks a required claim, such as a subscription that lapsed or has not arrived.',
    advice: 'Ignore single users. Otherwise compare `required_claims` with a token.',
  },
  clocks_disagree: {
    means: 'A certificate is expired by one clock and valid by another, so the proof cannot be judged.',
    advice: 'Correct the clocks; see `clock_differs`.',
  },
  console_header_missing: {
    means: 'A session cookie was sent without `x-console-request: 1`.',
    advice: 'A client of the console must send the header. Otherwise the request came from a page of another site.',
  },
  console_not_built: {
    means: 'The files of the console are missing.',
    advice: 'Run `npm run build`.',
  },
  content_coding_unsupported: {
    means: 'The body of the request has a content coding that the route does not accept.',
    advice: 'The client must send it without `Content-Encoding`; calls may use gzip, deflate, br or zstd.',
  },
  content_type_unsupported: {
    means: 'The body of the request is not declared as JSON.',
    advice: 'The client must send `Content-Type: application/json`.',
  },
  cookie_repeated: {
    means: 'Two session cookies were sent; a sibling host may have set one of them.',
    advice: 'Delete the cookies of the site. If it repeats, look at the other hosts of the domain.',
  },
  counter_not_greater: {
    means: 'A device proof was sent twice, or an older one after a newer one.',
    advice: 'The app must make a new proof for every exchange. Many: proofs are replayed.',
  },
  counter_not_zero: {
    means: 'The proof of a new device key has a counter above 0.',
    advice: 'The app must register a key once, before its first use.',
  },
  credential_id_mismatch: {
    means: 'The device proof is for a different key than the one it names.',
    advice: 'The app must send what the system returned, unchanged.',
  },
  credential_missing: {
    means: 'The request has no credential.',
    advice: 'The client must send `Authorization: Bearer`, or the person must sign in.',
  },
  credential_not_interactive: {
    means: 'A key or connection called a route for people who are signed in to the console.',
    advice: 'Use the console.',
  },
  credential_sent: {
    means: 'An argument of an MCP tool has the name of a credential.',
    advice: 'Let a person type the credential on a page; the tools say how.',
  },
  credential_too_long: {
    means: 'The credential is longer than any gateway token or API key.',
    advice: 'The client must send the credential alone.',
  },
  database_unavailable: {
    means: 'Postgres did not answer, or not in time.',
    advice: 'Check Postgres; see `database_silent` in the log.',
  },
  documentation_not_built: {
    means: 'The pages of the documentation are missing.',
    advice: 'Run `npm run build`.',
  },
  email_taken: {
    means: 'A person is registered with this e-mail address.',
    advice: 'Sign in instead.',
  },
  end_user_header_invalid: {
    means: 'The user id that the backend sent is not 1 to 128 printable ASCII characters, or is `.` or `..`.',
    advice: 'The backend must send another id.',
  },
  end_user_header_missing: {
    means: 'The backend did not say which user the call is for.',
    advice: 'The backend must send the header that `authentication.end_user` names.',
  },
  endpoint_needs_proof: {
    means: 'A device whose proof failed called an endpoint that is not in `limits.unproven.allowed_endpoints`.',
    advice: 'Add the endpoint there, or let the device register.',
  },
  endpoint_style_not_served: {
    means: 'The provider of a target does not serve the style of the named endpoint.',
    advice: 'Choose another provider or style for it.',
  },
  environment_not_allowed: {
    means: 'The device key is of an App Attest environment that the application does not allow.',
    advice: 'Usually a build from Xcode; add `development` to the allowed environments to accept it.',
  },
  environment_unknown: {
    means: 'The device key is of an unknown App Attest environment.',
    advice: 'The app must send what the system returned, unchanged.',
  },
  expectation_unsupported: {
    means: 'The request has an `Expect` other than `100-continue`.',
    advice: 'The client must not send it.',
  },
  expired: {
    means: 'The identity token has expired.',
    advice: 'The app must get a fresh token before the exchange. If all fail, check the clock of the database.',
  },
  foreign_host: {
    means: 'A page was requested under a host other than that of the console.',
    advice: 'Set `PUBLIC_URL` to the address that people use.',
  },
  foreign_origin: {
    means: 'The request came from a page of another origin, or lacks a required `Origin`.',
    advice: 'Set `PUBLIC_URL` to the URL in the browser. `MCP_ALLOWED_ORIGINS` allows other origins for MCP and OAuth.',
  },
  fragment_sent: {
    means: 'The request target has a fragment.',
    advice: 'The client must omit it.',
  },
  gateway_interrupted: {
    means: 'The process was stopping, so the call was ended.',
    advice: 'If there are many, raise `DRAIN_TIMEOUT_SECONDS`.',
  },
  gateway_token_required: {
    means: 'An API key was sent to an application that accepts gateway tokens only.',
    advice: 'The client must exchange it for a token first.',
  },
  grant_read_only: {
    means: 'A credential that may only read tried to change something.',
    advice: 'Use one with the grant `manage`.',
  },
  group_budget_held: {
    means: 'The rest of a budget of the group is held by calls in progress.',
    advice: 'Set `max_output_tokens` to make holds smaller, or raise the budget.',
  },
  group_budget_spent: {
    means: 'A budget of the group is spent.',
    advice: 'Raise it, or wait for the next period; `data.window` names it.',
  },
  group_day_limit_reached: {
    means: 'The group has reached its limit of requests per UTC day.',
    advice: 'Raise `limits`, or wait for `Retry-After`.',
  },
  group_day_token_limit_reached: {
    means: 'The group has reached its limit of tokens per UTC day.',
    advice: 'Raise `limits`, or wait for `Retry-After`.',
  },
  group_header_missing: {
    means: 'A call lacks the value of a group of the application, or the value is not valid.',
    advice: 'The backend must send the header of the group with 1 to 128 printable characters.',
  },
  group_minute_limit_reached: {
    means: 'The group has reached its limit of requests per minute.',
    advice: 'Raise `limits`, or wait for `Retry-After`.',
  },
  group_minute_token_limit_reached: {
    means: 'The group has reached its limit of tokens per minute.',
    advice: 'Raise `limits`, or wait for `Retry-After`.',
  },
  group_requests_held: {
    means: 'The rest of a limit of requests of the group is held by calls in progress.',
    advice: 'Wait for `Retry-After`, or raise the limit.',
  },
  group_tokens_held: {
    means: 'The rest of a limit of tokens of the group is held by calls in progress.',
    advice: 'Set `max_output_tokens` to make holds smaller, or raise the limit.',
  },
  guard_refused: {
    means: 'A guard of an extension refused without a reason.',
    advice: 'Check the extension.',
  },
  header_invalid: {
    means: 'The header of the identity token lacks `kid` or `alg`.',
    advice: 'Configure the identity provider to send both.',
  },
  header_repeated: {
    means: 'A header that must be sent once was repeated.',
    advice: 'Check the client and proxies that add headers.',
  },
  host_malformed: {
    means: 'The `Host` header is not a host.',
    advice: 'Check the client.',
  },
  host_missing: {
    means: 'The request has no `Host` header.',
    advice: 'Check the client.',
  },
  http_not_parsed: {
    means:
      'The bytes are not HTTP, the headers are too large, or they took 30 seconds to arrive, or the body five minutes.',
    advice: 'Ignore single lines. Many: check clients, or a proxy that speaks TLS or HTTP/2 to this port.',
  },
  http_version_unsupported: {
    means: 'The request is not HTTP/1.1 or 1.0.',
    advice: 'Configure the proxy in front to use HTTP/1.1.',
  },
  idempotency_header_malformed: {
    means: 'An idempotency header does not consist of 32 to 256 allowed characters.',
    advice: 'The client must send another value.',
  },
  idempotency_header_missing: {
    means: 'Only one of the two idempotency headers was sent.',
    advice: 'The client must send both.',
  },
  idempotency_proof_wrong: {
    means: 'A known `Idempotency-Key` was sent with another proof.',
    advice: 'The client must keep the pair. Otherwise someone else knows the key.',
  },
  idempotency_request_changed: {
    means: 'A known `Idempotency-Key` was sent with another request.',
    advice: 'The client must make a new key for every new request.',
  },
  instance_not_here: {
    means: 'Something asked for a kept answer of an instance that this process is not, or that has no `INTERNAL_URL`.',
    advice: '`INTERNAL_URL` of each instance must lead to that process alone, not to a load balancer.',
  },
  instance_signature_invalid: {
    means: 'A request to the route between instances is not signed with `JWT_SECRET`, or is older than ten seconds.',
    advice: 'Give all instances the same `JWT_SECRET`. Otherwise a stranger asks: keep the route from the internet.',
  },
  instance_unconfirmed: {
    means: 'This instance could not renew its lease for 2 seconds, so it admits no call with limits.',
    advice: 'Check Postgres; see `instance_unconfirmed` in the log.',
  },
  invitation_accepted: {
    means: 'The invitation was accepted, so it cannot be revoked.',
    advice: 'Remove the member instead.',
  },
  invitation_gone: {
    means: 'The invitation is unknown, used, revoked or expired.',
    advice: 'Ask for a new one.',
  },
  invited_email_differs: {
    means: 'The invitation is for a different e-mail address than that of the person.',
    advice: 'Sign in with the invited address, or ask for another invitation.',
  },
  issuer_mismatch: {
    means: 'The identity token is of another issuer.',
    advice:
      'Compare `issuer` in the configuration with `iss` in the token. If all tokens fail, the configuration is wrong.',
  },
  json_invalid: {
    means: 'The body is not valid JSON.',
    advice: 'Check the client.',
  },
  json_member_twice: {
    means: 'A member occurs twice in a JSON object.',
    advice: 'Check the client.',
  },
  json_number_not_kept: {
    means: 'A number would lose digits when it is stored.',
    advice: 'The client must send one that fits double precision.',
  },
  jwks_invalid: {
    means: 'The response of the identity provider is not a key set.',
    advice: 'Check `jwks_url`; see `issuer_key_set_failed` in the log.',
  },
  jwks_unreachable: {
    means: 'The key set of the identity provider cannot be fetched.',
    advice:
      'Check that this machine reaches it; see `issuer_key_set_failed` in the log. It is fetched again after two seconds.',
  },
  kept_object: {
    means: 'The call names an object that the provider keeps and that the gateway cannot assign to a caller.',
    advice: 'The client must send the content instead.',
  },
  kept_object_not_owned: {
    means:
      'The call names an object that this application and user did not get through the gateway in the last 30 days.',
    advice: 'The client must send the content instead.',
  },
  key_id_mismatch: {
    means: 'The key id that the app sent is not that of the key in the device proof.',
    advice: 'The app must send the id that the system returned with the key.',
  },
  key_required: {
    means: 'A console session called a route for management keys.',
    advice: 'Use a management key.',
  },
  key_unknown: {
    means: 'The user has no such device key: it is of another user, was evicted, or was never registered.',
    advice: 'Nothing: the app registers a new key.',
  },
  last_owner: {
    means: 'The last owner of an organization tried to leave or to be demoted.',
    advice: 'Make somebody else an owner first.',
  },
  lifetime_exceeded: {
    means: 'The identity token is valid for longer than the application accepts.',
    advice: 'Raise `max_token_lifetime_seconds` if such tokens should be accepted.',
  },
  lock_held: {
    means: 'The request waited 200 ms for a lock and did not get it.',
    advice: 'Nothing: the client tries again. Many: a client sends such requests in parallel.',
  },
  loop: {
    means: 'The address of the provider leads back to the gateway.',
    advice: 'Correct `baseUrl` of the provider.',
  },
  mail_not_configured: {
    means: 'A member subscribed to mails, but the gateway sends none.',
    advice: 'Set `SMTP_URL` and `MAIL_FROM`.',
  },
  management_key_unknown: {
    means: 'The management key or connection is unknown, revoked or expired, or its owner left.',
    advice: 'Create another key, or connect the client again.',
  },
  method_not_allowed: {
    means: 'The route or the provider path does not accept this method.',
    advice: 'The client must use POST; or allow the method in `methods` of an entry in `allowed_paths`.',
  },
  metrics_peer_not_local: {
    means: '`/metrics` was requested from another machine, or through a proxy, without `METRICS_TOKEN`.',
    advice: 'Set `METRICS_TOKEN` and give it to the scraper.',
  },
  metrics_token_invalid: {
    means: '`/metrics` was requested without the right token.',
    advice: 'Give the scraper the value of `METRICS_TOKEN`.',
  },
  model_disagrees: {
    means: 'The body names a different model than the path.',
    advice: 'The client must omit it from the body.',
  },
  model_list_unreachable: {
    means: 'The provider did not answer the request for its list of models.',
    advice: 'Test the provider in the console; look at its address and the network.',
  },
  model_list_unreadable: {
    means: 'The provider answered the request for its list of models with an error, or not with a list.',
    advice: 'Test the key of the provider; read its status page. A provider without such a list: leave the path out.',
  },
  model_missing: {
    means: 'The call names no model.',
    advice: 'The client must name one.',
  },
  no_issuer_identity: {
    means: 'A token was requested for an application whose backend calls with its key.',
    advice: 'Call with the key, or set an identity provider for its users.',
  },
  no_key: {
    means: 'The operation issued no key to show.',
    advice: 'Nothing.',
  },
  no_mail_address: {
    means: 'A member without an e-mail address subscribed to mails.',
    advice: 'Nothing.',
  },
  nobody_signed_in: {
    means: 'A step of a page needs a person who is signed in.',
    advice: 'The person must sign in on the page.',
  },
  nonce_mismatch: {
    means: 'The device proof is for other data than the app sent.',
    advice: 'Many for one version of the app: its hashing is wrong.',
  },
  nonce_missing: {
    means: 'The certificate of the device proof has no nonce.',
    advice: 'The app must send what the system returned, unchanged.',
  },
  not_a_management_key: {
    means: 'The bearer token does not have the form of a management key.',
    advice: 'Give the client a management key, which is not an application key or a provider key.',
  },
  not_a_member: {
    means: 'The person does not belong to the organization.',
    advice: 'Ask an owner or admin for an invitation.',
  },
  not_an_attestation_app: {
    means: 'A device proof was sent to an application that does not use device attestation.',
    advice: 'Set its authentication to `device_app_attest`, or call with an API key.',
  },
  not_first_account: {
    means: 'Only owners of the account that was opened first see the state of the deployment.',
    advice: 'Sign in to that account.',
  },
  oauth_invalid_client: {
    means: 'The OAuth client is not accepted.',
    advice: 'See `oauth_client_refused` and `OAUTH_CLIENT_HOSTS`.',
  },
  oauth_invalid_grant: {
    means: 'The code or refresh token is wrong, used, expired or revoked.',
    advice: 'Connect the client again. Many: see `oauth_token_refused`.',
  },
  oauth_invalid_request: {
    means: 'The request of an OAuth client is malformed.',
    advice: 'See the line `oauth_authorization_refused` or `oauth_token_refused` beside it.',
  },
  oauth_invalid_scope: {
    means: 'An OAuth client asked for another scope than was granted.',
    advice: 'Connect the client again.',
  },
  oauth_invalid_target: {
    means: 'An OAuth client asked for a token for another resource than was authorized.',
    advice: 'Connect the client to the address in `PUBLIC_URL`.',
  },
  oauth_off: {
    means: 'An OAuth route was called where the authorization server is off.',
    advice: 'Set `PUBLIC_URL`, and do not set `OAUTH_ENABLED=false`.',
  },
  oauth_parameter_repeated: {
    means: 'A parameter of an authorization request occurs twice.',
    advice: 'Check the client.',
  },
  oauth_unsupported_grant_type: {
    means: 'An OAuth client asked for a token in another way than with a code or refresh token.',
    advice: 'Check the client.',
  },
  offered_role_too_high: {
    means: 'An invitation offers a higher role than its sender has.',
    advice: 'Have an owner send it.',
  },
  operation_is_no_login: {
    means: 'A terminal tried to collect a key of an operation that is not a login.',
    advice: 'Check the terminal program.',
  },
  operation_needs_no_person: {
    means: 'Somebody started to sign in for an operation that needs no sign-in.',
    advice: 'Open the link of the terminal again.',
  },
  operation_not_found: {
    means: 'The operation of a terminal is unknown or was deleted.',
    advice: 'Start again in the terminal.',
  },
  operation_token_used: {
    means: 'A terminal used one token for two operations.',
    advice: 'The terminal must make a new token for every operation.',
  },
  operation_token_wrong: {
    means: 'The token is not that of the operation.',
    advice: 'Start again in the terminal. Many: somebody is guessing operations.',
  },
  operation_withdrawn: {
    means: 'The credential that requested the change no longer has the right to make it.',
    advice: 'Call again with another credential.',
  },
  page_not_allowed: {
    means: 'A page of an origin that the application does not list asked whether it may call it.',
    advice: 'Add the origin to `allowed_origins` of the application, exactly as it is in `Origin`, if it is yours.',
  },
  password_common: {
    means: 'The new password is one of the most common ones.',
    advice: 'The person must choose another one.',
  },
  own_address: {
    means: 'The base URL in the request is an address of this gateway: a call would come back to it.',
    advice: 'Give the address of the provider.',
  },
  passkey_refused: {
    means:
      'A new passkey was not accepted: challenge, origin, site, user verification or signature. The cause says which.',
    advice: 'Ignore single lines.',
  },
  passkey_sign_in_refused: {
    means:
      'A sign-in with a passkey failed: it is unknown, is another person’s or site’s, was replayed, or its counter did not rise.',
    advice: 'Ignore single lines. Many, or one whose counter did not rise: the person removes the passkey.',
  },
  passkey_site_unusable: {
    means: 'Someone tried to use a passkey at an IP address, or without https.',
    advice: 'Set `PUBLIC_URL` to an https address with a host name.',
  },
  passkey_stored: {
    means: 'The passkey is already stored.',
    advice: 'Nothing.',
  },
  password_hashing_busy: {
    means: 'Too many passwords are checked at once.',
    advice: 'Many: somebody guesses passwords from many addresses. Limit sign-ins at the proxy.',
  },
  password_reset_unknown: {
    means:
      'A link for a new password is unknown, used, replaced or expired, or its creator no longer owns every account ' +
      'of the person.',
    advice: 'Ignore single lines: an owner makes another link.',
  },
  password_wrong: {
    means: 'The current password is wrong.',
    advice: 'The person must type it again.',
  },
  path_empty: {
    means: 'The URL names a provider and no path.',
    advice: 'Check the base URL of the client.',
  },
  path_escape: {
    means: 'The model in the path has a broken percent escape.',
    advice: 'Check the client.',
  },
  path_not_in_policy: {
    means: 'The application does not allow this provider path.',
    advice: 'Add it to `allowed_paths` if clients should call it.',
  },
  plan_cancelled: {
    means: 'The plan of the account is cancelled.',
    advice: 'Change the account in `PLANS_FILE` when it has paid.',
  },
  plan_ended: {
    means: 'The plan of the account has ended.',
    advice: 'Change `ends_at` in `PLANS_FILE` when it has paid.',
  },
  plan_limit_active_keys_per_app: {
    means: 'The application has as many keys as its plan allows.',
    advice: 'Revoke a key, or give the account another plan.',
  },
  plan_limit_apps: {
    means: 'The account has as many applications as its plan allows.',
    advice: 'Delete one, or give the account another plan.',
  },
  plan_limit_provider_gateways: {
    means: 'The account has as many upstream gateways as its plan allows.',
    advice: 'Delete one, or give the account another plan.',
  },
  plan_limit_providers: {
    means: 'The account has as many providers as its plan allows.',
    advice: 'Delete one, or give the account another plan.',
  },
  plan_missing: {
    means: 'The account has no plan.',
    advice: 'Assign one in `PLANS_FILE`.',
  },
  plans_file_unreadable: {
    means: '`PLANS_FILE` has not been readable since the start.',
    advice: 'Correct it; the line `plans_file_unreadable` names the place.',
  },
  probe_refused: {
    means: 'The provider refused the key that was tested.',
    advice: 'Enter a key that the provider accepts.',
  },
  proof_not_base64: {
    means: 'The device proof is not base64.',
    advice: 'The app must encode it.',
  },
  proof_too_large: {
    means: 'The device proof is larger than any genuine one.',
    advice: 'The app must send what the system returned, unchanged.',
  },
  provider_always_moving: {
    means: 'Concurrent requests changed the provider each time before this one could.',
    advice: 'Nothing: the client tries again.',
  },
  provider_err_egress_proxy_403: {
    means: 'The proxy of `HTTPS_PROXY` or `HTTP_PROXY` does not allow a connection to the provider.',
    advice: 'Allow the host and port of the provider in the proxy, or name it in `NO_PROXY`.',
  },
  provider_err_egress_proxy_407: {
    means: 'The proxy of `HTTPS_PROXY` or `HTTP_PROXY` did not accept the user and password.',
    advice: 'Correct them in the variable.',
  },
  provider_err_egress_proxy_502: {
    means:
      'The proxy of `HTTPS_PROXY` or `HTTP_PROXY` could not connect to the provider; other numbers are its status too.',
    advice: 'Compare the base URL of the provider, and see the log of the proxy.',
  },
  provider_err_egress_proxy_timeout: {
    means: 'The proxy of `HTTPS_PROXY` or `HTTP_PROXY` did not open the connection to the provider in 10 seconds.',
    advice: 'See the log of the proxy.',
  },
  provider_err_egress_proxy_unreachable: {
    means: 'The proxy of `HTTPS_PROXY` or `HTTP_PROXY` cannot be reached.',
    advice: 'Correct the address, or start the proxy.',
  },
  provider_err_own_address: {
    means: 'The address of the provider is one of this gateway: its listener, or that of `PUBLIC_URL`.',
    advice: 'Give the provider its own address.',
  },
  provider_answer_not_kept: {
    means: 'The last answer of a fallback chain was too long, too slow or too broken to be sent later.',
    advice: 'See `endpoint_fallback` in the log with the same time.',
  },
  provider_cancelled: {
    means: 'The gateway ended the call because it was no longer needed.',
    advice: 'Nothing.',
  },
  provider_client_left: {
    means: 'The client ended the connection before an answer came.',
    advice: 'Ignore single lines. Many: client timeouts are shorter than the response times of the provider.',
  },
  provider_closed: {
    means: 'The provider closed the connection before its answer was complete.',
    advice: 'Check the provider and the network.',
  },
  provider_connections_exhausted: {
    means: 'All connections that the provider may use are in use.',
    advice: 'Raise `PROVIDER_MAX_CONNECTIONS`, or add instances.',
  },
  provider_encoding_unknown: {
    means: 'The provider answered in an encoding that was not requested.',
    advice: 'Check `baseUrl` and what is in front of the provider.',
  },
  provider_gateway_missing: {
    means: 'The upstream gateway of the provider no longer exists.',
    advice: 'Create another provider.',
  },
  provider_gateway_not_found: {
    means: 'The account has no such upstream gateway.',
    advice: 'Read the list of gateways.',
  },
  provider_gateway_revoked: {
    means: 'The upstream gateway of the provider is not active.',
    advice: 'Create another gateway and provider.',
  },
  provider_head_too_large: {
    means: 'The provider sent more than 64 KiB of headers.',
    advice: 'Check `baseUrl` and what is in front of the provider.',
  },
  provider_invalid_answer: {
    means: 'The provider sent no valid HTTP/1.1.',
    advice: 'Check `baseUrl` and what is in front of the provider.',
  },
  provider_invalid_request: {
    means: 'The path or a header of the call has characters that HTTP does not allow.',
    advice: 'Check the client.',
  },
  provider_not_found: {
    means: 'The account has no such provider.',
    advice: 'Read the list of providers.',
  },
  provider_not_in_policy: {
    means: 'The application does not allow this provider.',
    advice: 'Add it to `routing.providers` if clients should call it.',
  },
  provider_not_recordable: {
    means: 'The call could not be written to the journal, so it was not sent.',
    advice: 'See `usage_journal_failed` in the log.',
  },
  provider_silent: {
    means: 'The provider stopped in the middle of its answer.',
    advice: 'Raise `PROVIDER_SILENCE_TIMEOUT_SECONDS` if its models reason for longer.',
  },
  provider_slug_invalid: {
    means: 'The provider in the URL does not have the form of a slug.',
    advice: 'Check the base URL of the client.',
  },
  provider_timeout: {
    means: 'The provider sent no response headers in time.',
    advice: 'The provider is slow, or `PROVIDER_TTFB_TIMEOUT_SECONDS` is short.',
  },
  provider_unknown: {
    means: 'The connection to the provider failed without an error code.',
    advice: 'Check the provider and the network.',
  },
  providers_refer_to_it: {
    means: 'Providers are routed through the upstream gateway, disabled ones included.',
    advice: 'Delete the providers first.',
  },
  public_key_unusable: {
    means: 'The key in the device proof cannot be used.',
    advice: 'The app must send what the system returned, unchanged.',
  },
  query_parameter_refused: {
    means: 'The call has a query parameter that the gateway does not let through.',
    advice: 'The message says why; the client must omit it.',
  },
  query_unclear: {
    means: 'The query has broken or double escapes, or control characters.',
    advice: 'Check the client.',
  },
  recovery_refused: {
    means: 'A recovery failed: the e-mail address is unknown, or the code is wrong or used.',
    advice: 'Ignore single lines. Many for one address: somebody guesses.',
  },
  redeem_code_wrong: {
    means: 'The code of a login is wrong.',
    advice: 'Start again in the terminal. Many: someone is guessing codes.',
  },
  registration_closed: {
    means: 'Registration is closed after the first person.',
    advice: 'Send an invitation, or set `ALLOW_ADDITIONAL_REGISTRATIONS`.',
  },
  request_counters_full: {
    means: 'More than 200 000 users and applications are counted at once.',
    advice: 'Add instances; look for an application that makes up user ids.',
  },
  request_counts_unknown: {
    means: 'The counts of requests are unknown for a moment, so calls with limits are refused.',
    advice: 'Check Postgres and Redis; see `limits_agreement_failed` in the log.',
  },
  request_quota_reached: {
    means: 'The account has used the requests of its plan in this period.',
    advice: 'Give it another plan, or wait for the next period.',
  },
  reset_own: {
    means: 'An owner asked for a link for their own password.',
    advice: 'Nothing: they change it in the settings.',
  },
  reset_reaches_other_accounts: {
    means: 'An owner asked for a link for a person who also belongs to an account that they do not own.',
    advice: 'The person must use a recovery code or a passkey, or leave the other account.',
  },
  reset_without_password: {
    means: 'An owner asked for a link for a person without a password.',
    advice: 'The person can sign in as before, with Google.',
  },
  role_not_owner: {
    means: 'Only owners may do this.',
    advice: 'Ask an owner.',
  },
  role_read_only: {
    means: 'Members may only read.',
    advice: 'Ask an owner or admin.',
  },
  route_escaped: {
    means: 'The URL matches a route only after an escape is decoded.',
    advice: 'Check the client.',
  },
  route_not_found: {
    means: 'There is no such route.',
    advice: 'Check the base URL of the client.',
  },
  route_unknown: {
    means: 'There is no such route, and no such page of the console.',
    advice: 'Check the URL.',
  },
  run_budget_differs: {
    means:
      'A call names a different budget than the first call of its run, or a larger one than the application allows.',
    advice: 'Send the budget of the first call, or none; or begin another run.',
  },
  run_budget_held: {
    means: 'The rest of the budget of the run is held by calls in progress.',
    advice: 'Set `max_output_tokens` to make holds smaller, or begin another run.',
  },
  run_budget_spent: {
    means: 'The budget of the run is spent.',
    advice: 'Begin another run, with another `X-Run-Id`.',
  },
  run_invalid: {
    means: '`X-Run-Id` or `X-Run-Budget-Usd` cannot be read.',
    advice: 'The message names the header and its form.',
  },
  run_not_allowed: {
    means: 'A call names a run, and its application does not allow runs, or its credential is a gateway token.',
    advice: 'Set `limits.runs`, and call with an application key.',
  },
  scheme_not_supported: {
    means: 'The `Authorization` header is not of the scheme `Bearer`.',
    advice: 'The client must send `Bearer` and the key.',
  },
  secret_on_gateway_provider: {
    means: 'A key was sent for a provider whose upstream gateway has the credential.',
    advice: 'Rotate the token of the gateway instead.',
  },
  secret_unavailable: {
    means: 'The key of the provider could not be decrypted, for an unexpected reason.',
    advice: 'See `provider_secret_unavailable` in the log.',
  },
  secret_undecryptable: {
    means: 'The version of the vault key that sealed the secret is missing, or its row was moved.',
    advice: 'Restore the vault key, or enter the secret again.',
  },
  session_unknown: {
    means: 'The session is unknown, ended or signed by another secret.',
    advice: 'The person must sign in again. All people: `AUTH_SECRET` changed, or differs between instances.',
  },
  sign_in_not_recent: {
    means: 'A person tried to change how they sign in, by a session older than 15 minutes.',
    advice: 'Nothing: they must sign in again.',
  },
  sign_in_refused: {
    means: 'E-mail address or password is wrong.',
    advice: 'The person can try again. Many: somebody guesses passwords.',
  },
  signals_missing: {
    means: 'The device signs neither how the app came onto it nor its version, and `require_signals` is set.',
    advice: 'Systems before iOS and macOS 27 sign nothing; turn `require_signals` off to accept them.',
  },
  signature_invalid: {
    means: 'The signature of the device proof is wrong.',
    advice: 'Many for one version of the app: its hashing is wrong.',
  },
  signature_missing: {
    means: 'The device proof has no signature.',
    advice: 'The app must send what the system returned, unchanged.',
  },
  stale_revision: {
    means: 'The resource changed after the client had read it.',
    advice: 'The client must read it again and merge.',
  },
  stream_claim_unknown: {
    means: 'Postgres did not answer, so it is unknown whether a call with an `Idempotency-Key` is a repeated one.',
    advice: 'Check Postgres.',
  },
  stream_expired: {
    means: 'The time for which the application keeps answers is over, or it no longer keeps any.',
    advice: 'Raise `streams.resume_seconds` of the application, if clients come back later.',
  },
  stream_offset_too_large: {
    means: 'A client asked for bytes behind the end of a kept answer.',
    advice: 'The client counts the bytes as they arrive, before it decodes them, without comments of the gateway.',
  },
  stream_owner_unreachable: {
    means:
      'A kept answer is read by another instance, Redis does not answer, and that instance has no `INTERNAL_URL` or does not answer there.',
    advice: 'Check Redis. The client tries again.',
  },
  stream_readers_exhausted: {
    means: 'Too many clients read one kept answer at the same time.',
    advice: 'A client closes its connection before it opens the next one.',
  },
  submission_token_wrong: {
    means: 'The link or user code of a page is not that of the operation.',
    advice: 'Open the link again. Many: somebody is guessing codes; see `user_codes_refused`.',
  },
  third_party_not_configured: {
    means: 'Sign-in with Google is not set up.',
    advice: 'Set `GOOGLE_CLIENT_ID` and `GOOGLE_CLIENT_SECRET`.',
  },
  third_party_unavailable: {
    means: 'The metadata of Google cannot be read.',
    advice: 'Check that this machine reaches `GOOGLE_ISSUER_URL`; see `third_party_sign_in_failed`.',
  },
  timestamps_invalid: {
    means: 'The times in the identity token are missing, contradict each other, or lie in the future.',
    advice: 'Check the clocks of the identity provider and of the database.',
  },
  token_expired: {
    means: 'The gateway token has expired.',
    advice: 'Nothing: the app exchanges a new one.',
  },
  token_groups_missing: {
    means: 'A gateway token was issued before its application had this group.',
    advice: 'The client must exchange a new token.',
  },
  token_invalid: {
    means: 'The gateway token is malformed, or not signed by this deployment.',
    advice: 'Ignore single lines. Many: `JWT_SECRET` changed, or differs between instances.',
  },
  token_key_invalid: {
    means: 'The API key behind the gateway token was revoked.',
    advice: 'The backend must exchange an active key.',
  },
  token_of_other_app: {
    means: 'The gateway token is of another application.',
    advice: 'The client must exchange a token for this one.',
  },
  token_of_other_method: {
    means: 'The authentication of the application changed after the token was issued.',
    advice: 'Nothing: the app exchanges a new one.',
  },
  token_of_wrong_clock: {
    means: 'The gateway token was issued while a clock was ahead.',
    advice: 'Nothing: the app exchanges a new one. Keep the clock of the database right.',
  },
  too_many_invitations: {
    means: 'The organization has reached the maximum number of pending invitations.',
    advice: 'Revoke some.',
  },
  too_many_management_keys: {
    means: 'The account has reached the maximum number of management keys.',
    advice: 'Revoke some.',
  },
  too_many_organizations: {
    means: 'The person has reached the maximum number of organizations.',
    advice: 'Leave one.',
  },
  too_many_passkeys: {
    means: 'A person with the most passkeys allowed tried to add one.',
    advice: 'Nothing: they remove one.',
  },
  too_many_pending_authorizations: {
    means: 'Too many OAuth clients wait for a decision.',
    advice: 'Wait. Many: somebody is flooding the consent page; limit requests at the proxy.',
  },
  too_many_pending_logins: {
    means: 'Too many terminals wait for a decision.',
    advice: 'Wait. Many: somebody is flooding logins; limit requests at the proxy.',
  },
  too_many_pending_operations: {
    means: 'The account has too many operations that wait for a person.',
    advice: 'Decide them, or wait until they expire.',
  },
  too_many_webhooks: {
    means: 'The account has reached the maximum number of webhooks.',
    advice: 'Delete one.',
  },
  transfer_coding_unsupported: {
    means: 'The request has a `Transfer-Encoding` other than `chunked`, or one in HTTP/1.0.',
    advice: 'Check the client and the proxy in front.',
  },
  unknown_kid: {
    means: 'The identity provider publishes no key of the name in the token.',
    advice: 'Check `jwks_url`.',
  },
  usage_journal_failed: {
    means: 'The journal cannot be written.',
    advice: 'Disk full, or `DATA_DIR` not writable; see `usage_journal_failed` in the log.',
  },
  usage_journal_full: {
    means: '`JOURNAL_MAX_PENDING` events wait for Postgres.',
    advice: 'Check Postgres; see `usage_events_write_failed` in the log.',
  },
  user_blocked: {
    means: 'The user is blocked.',
    advice: 'Nothing, or unblock the user.',
  },
  user_budget_held: {
    means: 'The rest of a budget of the user is held by calls in progress.',
    advice: 'Set `max_output_tokens` to make holds smaller, or raise the budget.',
  },
  user_budget_spent: {
    means: 'A budget of the user is spent.',
    advice: 'Raise it, or wait for the next period; `data.window` names it.',
  },
  user_day_limit_reached: {
    means: 'The user has reached their limit of requests per UTC day.',
    advice: 'Raise `limits`, or wait for `Retry-After`.',
  },
  user_day_token_limit_reached: {
    means: 'The user has reached their limit of tokens per UTC day.',
    advice: 'Raise `limits`, or wait for `Retry-After`.',
  },
  user_id_missing: {
    means: 'The claim `user_id_claim` is absent, is not a text of 1 to 1024 bytes, or is `.` or `..`.',
    advice: 'Compare `user_id_claim` with a token.',
  },
  user_minute_limit_reached: {
    means: 'The user has reached their limit of requests per minute.',
    advice: 'Raise `limits`, or wait for `Retry-After`.',
  },
  user_minute_token_limit_reached: {
    means: 'The user has reached their limit of tokens per minute.',
    advice: 'Raise `limits`, or wait for `Retry-After`.',
  },
  user_tokens_held: {
    means: 'The rest of a limit of tokens of the user is held by calls in progress.',
    advice: 'Set `max_output_tokens` to make holds smaller, or raise the limit.',
  },
  vault_failed: {
    means: 'The vault of an extension threw an unexpected error.',
    advice: 'See the log of the extension.',
  },
  vault_misconfigured: {
    means: 'The vault is misconfigured.',
    advice: 'See `secret_vault_misconfigured` in the log.',
  },
  vault_unreachable: {
    means: 'The key service did not answer, or refused.',
    advice: 'See `provider_secret_unavailable` in the log.',
  },
  webhook_disabled: {
    means: 'Someone tried to resend a delivery of a disabled webhook.',
    advice: 'Enable the webhook first.',
  },
  workers_not_heard: {
    means: 'The parent of the workers did not answer a scrape within a second.',
    advice: 'Ignore single lines. Many: the machine is overloaded.',
  },
  application_id_invalid: {
    means: 'The application id in an attestation of Android cannot be parsed.',
    advice: 'The app must send the chain that the system returned, unchanged.',
  },
  application_id_missing: {
    means: 'An attestation of Android names no application.',
    advice: 'The app must make the key with the system’s key store.',
  },
  boot_not_verified: {
    means: 'The Android device booted a system that its vendor did not sign.',
    advice: 'Nothing, or set `verified_boot` to false if you trust such systems.',
  },
  bootloader_unlocked: {
    means: 'The bootloader of the Android device is unlocked, so its attestation proves nothing.',
    advice: 'The owner can lock it. Emulators and developers’ phones belong here.',
  },
  chain_extended: {
    means: 'Somebody continued the certificate chain of an attested key with one of their own.',
    advice: 'Nothing: such a proof is forged.',
  },
  challenge_mismatch: {
    means: 'The attested challenge is not the one of the registration.',
    advice: 'The app must give the 32 bytes that the challenge encodes to the key generator.',
  },
  extension_elsewhere: {
    means: 'A certificate other than the leaf has the attestation.',
    advice: 'Nothing: such a proof is forged.',
  },
  extension_missing: {
    means: 'The leaf certificate has no attestation of Android, or several.',
    advice: 'The app must set a challenge when it makes the key.',
  },
  key_description_invalid: {
    means: 'The attestation of an Android key cannot be parsed.',
    advice: 'The app must send the chain that the system returned, unchanged.',
  },
  key_not_generated: {
    means: 'The Android key was imported instead of made in the device.',
    advice: 'The app must make the key with the system’s key store.',
  },
  framework_client_not_offered: {
    means: 'The framework’s client asked where it cannot sign in.',
    advice:
      'Set `framework_client`; it needs users that are installs, a provider of the Messages API that the application reaches, and the application’s id as client id.',
  },
  integrity_hash_mismatch: {
    means: 'The integrity token is not bound to this challenge and key.',
    advice: 'The app sets `requestHash` or `nonce` to base64url of the SHA-256 of the text that an exchange signs.',
  },
  integrity_package_mismatch: {
    means: 'The integrity token is of another app than `package_name`.',
    advice: 'Compare it with the application id of the app.',
  },
  integrity_payload_invalid: {
    means: 'The payload of the integrity token is not what the vendor documents.',
    advice: 'Nothing, if it is rare. Otherwise the vendor changed its format: look for a newer version.',
  },
  integrity_signature_invalid: {
    means: 'The signature inside the integrity token is wrong.',
    advice: 'If all tokens have it, the response keys were replaced in Play Console: set the new ones.',
  },
  integrity_test_response: {
    means: 'The verdicts of the integrity token were chosen in Play Console.',
    advice: 'Set `allow_testing` for an application of testers.',
  },
  integrity_token_expired: {
    means: 'The integrity token was not made within the life of the challenge.',
    advice:
      'The app asks for a token after it got the challenge. If all tokens have it, check the clock of the database.',
  },
  integrity_token_malformed: {
    means: 'The integrity token is not five parts of base64url.',
    advice: 'The app sends what the system returned, unchanged.',
  },
  integrity_token_refused: {
    means: 'The vendor refused to decode the integrity token.',
    advice: 'Ignore single ones: used before, too old, or forged.',
  },
  integrity_token_undecryptable: {
    means: 'The integrity token is not encrypted with the response keys of the application.',
    advice:
      'If all tokens have it, the keys are those of another app, or requests are not classic ones: set the keys, or `decode: "vendor"`.',
  },
  app_not_evaluated: {
    means: 'The vendor did not compare the app with its store, mostly because the device is not trustworthy.',
    advice: 'Ignore single ones.',
  },
  app_unlicensed: {
    means: 'The account of the device did not get the app from the store.',
    advice: 'Set `allow_unlicensed` if you distribute the app elsewhere too.',
  },
  app_unrecognized: {
    means: 'The store does not know this copy of the app: repackaged, or not distributed by it.',
    advice: 'Set `allow_unrecognized` with `certificates` if you distribute the app yourself.',
  },
  device_verdict_missing: {
    means: 'The device lacks a verdict of `require`.',
    advice: 'Emulators, unlocked and modified devices belong here. Compare `require` with what your users have.',
  },
  license_not_evaluated: {
    means: 'The vendor did not say whether the account of the device got the app from the store.',
    advice: 'Ignore single ones, or set `allow_unlicensed`.',
  },
  play_access_refused: {
    means: 'The vendor refused the service account.',
    advice: 'Enable the Play Integrity API in its project, link the project in Play Console, or set a newer key.',
  },
  play_credentials_missing: {
    means: 'The application has no credentials for its `decode`.',
    advice: 'Set a service account for `vendor`, response keys for `local`.',
  },
  play_quota_exhausted: {
    means: 'The vendor decodes no more tokens of this app at the moment.',
    advice: 'Ask the vendor for a higher quota. Tokens are decoded once per registration.',
  },
  play_unreachable: {
    means: 'The vendor did not answer, or not as it documents.',
    advice: 'Let the instances reach `PLAY_INTEGRITY_BASE_URL` and `GOOGLE_OAUTH_TOKEN_URL`.',
  },
  key_of_other_proof: {
    means:
      'The device key was registered with a different proof than the one sent, or than those the application now ' +
      'accepts.',
    advice: 'The app must send the proof it registered with, or register a new key.',
  },
  key_purpose_invalid: {
    means: 'The Android key may be used for more than signing.',
    advice: 'The app must make the key for `PURPOSE_SIGN` alone.',
  },
  os_patch_too_old: {
    means: 'The security patch of the Android device is older than `min_os_patch`, or unknown.',
    advice: 'The owner must update the system; or lower `min_os_patch`.',
  },
  package_not_allowed: {
    means: 'The Android key belongs to no package of `package_names`.',
    advice: 'Compare them with the application id of the app.',
  },
  proof_not_configured: {
    means: 'A proof was sent that the application does not accept.',
    advice: 'Send one of those in `authentication.proofs`, or add it there.',
  },
  provisioning_not_remote: {
    means: 'The attesting key of the Android device was not provisioned remotely.',
    advice: 'Older phones have factory keys; set `provisioning` to `any` to accept them.',
  },
  revocation_list_stale: {
    means: 'The list of revoked Android keys is too old to register a key.',
    advice: 'See `android_revocation_list_failed`, and `ANDROID_REVOCATION_LIST`.',
  },
  root_of_trust_missing: {
    means: 'The attestation of the Android device does not say how it booted.',
    advice: 'Nothing: such a device cannot prove itself.',
  },
  security_level_mismatch: {
    means: 'The attestation of an Android key claims more protection than the key has.',
    advice: 'Nothing: such a proof is forged.',
  },
  security_level_software: {
    means: 'The Android key, or its attestation, is in software.',
    advice: 'Emulators belong here; devices without secure hardware cannot prove themselves.',
  },
  security_level_too_low: {
    means: 'The Android key is not in StrongBox, as `min_security_level` demands.',
    advice: 'The app must ask for StrongBox; or lower `min_security_level`.',
  },
  signing_certificate_not_allowed: {
    means: 'The Android app is signed by no certificate of `signing_certificates`, or of `certificates`.',
    advice: 'Add the SHA-256 of your own and of the store’s signing certificate. Otherwise the app was repackaged.',
  },
  strongbox_not_certified: {
    means: 'The attestation of an Android key claims StrongBox, its certificates do not.',
    advice: 'Nothing: such a proof is forged.',
  },
  version_code_too_low: {
    means: 'The attested version code of the app is below `min_version_code`.',
    advice: 'The user must update the app.',
  },
} as const satisfies Record<string, ReasonEntry>;

declare const UNLISTED: unique symbol;

/** A reason outside the list; only {@link unlistedReason} creates one. */
export type UnlistedReason = string & { readonly [UNLISTED]: true };

export type Reason = keyof typeof REASONS | UnlistedReason;

/** A reason with the code of a system error in it, or one of an extension. */
export function unlistedReason(reason: string): UnlistedReason {
  return reason as UnlistedReason;
}

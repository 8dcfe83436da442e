/** The suite of each parser, and by how many properties it is fed: they share the inputs. */
const PARSERS = {
  'src/consent/clients/redirect-uris.rules.spec.ts': 1,
  'src/consent/clients/client.rules.spec.ts': 1,
  'src/consent/authorizations/authorization.rules.spec.ts': 1,
  'src/accounts/connections/oauth-token.rules.spec.ts': 1,
  'src/proxy/json/json-scan.spec.ts': 3,
  'src/proxy/json/json-merge-any-body.spec.ts': 5,
  'src/proxy/json/json-edit.spec.ts': 1,
  'src/proxy/forms/multipart-form.spec.ts': 2,
  'src/proxy/body/output-cap.rules.spec.ts': 1,
  'src/proxy/body/usage-chunk-filter.spec.ts': 2,
  'src/proxy/relay/buffered-stream-head.spec.ts': 3,
  'src/upstreams/usage/sse-scanner.spec.ts': 1,
  'src/upstreams/usage/sse-usage.spec.ts': 8,
  // Each of its properties is a separate parser: base64, CBOR, authenticator data, certificates, both proofs.
  'src/client-auth/devices/device-proofs.fuzz.spec.ts': 1,
  // As above: the key's description, the application's id, each certificate.
  'src/client-auth/devices/android/key-attestation.fuzz.spec.ts': 1,
  // As above: the token, its payload.
  'src/client-auth/devices/play/integrity-token.fuzz.spec.ts': 1,
  'src/client-auth/callers/gateway-tokens.spec.ts': 3,
  'src/client-auth/issuers/issuer-token.rules.spec.ts': 2,
  'src/client-auth/issuers/issuer-tokens.service.spec.ts': 1,
  'src/client-auth/issuers/key-set.rules.spec.ts': 1,
  'src/client-auth/issuers/issuer-claims.rules.spec.ts': 1,
  'src/client-auth/issuers/claim-path.rules.spec.ts': 2,
  'src/common/http/strict-json.rules.spec.ts': 6,
  'src/common/fields/request-shape.pipe.spec.ts': 1,
  'src/app-directory/config/app-config.spec.ts': 2,
  'src/app-directory/config/free-json.rules.spec.ts': 1,
  'src/sign-in/third-party/console-path.spec.ts': 1,
  'src/platform/outbound/address.rules.spec.ts': 2,
  'src/platform/outbound/trusted-hosts.rules.spec.ts': 3,
  'src/platform/vault/local-vault.spec.ts': 5,
};

/**
 * One run for each suite: its properties share the inputs. A failure names the seed and the smallest input that fails.
 *
 * @param {string} runs how many inputs a parser gets
 * @param {string} seed repeats them
 * @param {readonly string[]} parts of the paths of the suites to run; none: all
 */
export function parserRuns(runs, seed, parts) {
  return Object.entries(PARSERS)
    .filter(([suite]) => parts.length === 0 || parts.some((part) => suite.includes(part)))
    .map(([suite, properties]) => ({
      ...{ project: 'unit', suites: [suite] },
      env: { FUZZ_RUNS: String(Math.ceil(Number(runs) / properties)), FUZZ_SEED: seed },
    }));
}

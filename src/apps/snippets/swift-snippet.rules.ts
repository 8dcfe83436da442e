import type { Snippet } from '../dto/app-snippet.response.js';
import { type SnippetCall, unsupported } from './snippet-target.rules.js';

const DEVICE_NOTE = 'Device attestation works on a device only; on the simulator isSupported is false.';
const KEY_NOTE = 'Call registerDevice once per install and keep the key id in the keychain; get a token once per hour.';
const ISSUER_NOTE = 'issuerToken is the user’s token from the identity provider of the application.';

/**
 * The call in Swift, with device attestation, for a mobile application.
 *
 * @throws unsupported_snippet the application has keys, or the call is a form.
 * Source: docs/reference/application-api.md#device-attestation, docs/reference/application-api.md#token-exchange.
 */
export function swiftSnippet({ origin, appId, authentication, target }: SnippetCall): Snippet {
  if (authentication.type === 'api_key') {
    throw unsupported('An application key must not be part of an app that people install; use curl.');
  }
  if (authentication.type === 'device_proofs' && authentication.proofs.app_attest === undefined) {
    throw unsupported('The application does not accept App Attest; use curl.');
  }
  if (target.body === undefined) throw unsupported('There is no Swift example for uploads; use curl.');
  const hasIssuer = authentication.end_user.source === 'issuer';
  const parameter = hasIssuer ? ', issuerToken: String' : '';
  const member = hasIssuer ? '"issuer_token": issuerToken, ' : '';
  const further = target.headers.map(([name, value]) => `, ${text(name)}: ${text(value)}`).join('');
  const snippet = `import CryptoKit
import DeviceCheck
import Foundation

let appId = ${text(appId)}
let appURL = URL(string: ${text(`${origin}/v1/apps/${appId}/`)})!
let device = DCAppAttestService.shared

/// Sends JSON, and returns the response body if it succeeded.
func post(_ path: String, _ body: Data, headers: [String: String] = [:]) async throws -> Data {
    var request = URLRequest(url: URL(string: path, relativeTo: appURL)!)
    request.httpMethod = "POST"
    request.httpBody = body
    request.setValue("application/json", forHTTPHeaderField: "Content-Type")
    for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
    let (data, response) = try await URLSession.shared.data(for: request)
    guard (response as? HTTPURLResponse)?.statusCode == 200 else { throw URLError(.badServerResponse) }
    return data
}

func authenticate(_ path: String, _ members: [String: String]) async throws -> [String: Any] {
    let data = try await post("auth/" + path, JSONSerialization.data(withJSONObject: members))
    return try JSONSerialization.jsonObject(with: data) as? [String: Any] ?? [:]
}

func newChallenge() async throws -> String {
    guard let challenge = try await authenticate("challenge", [:])["challenge"] as? String else { throw URLError(.cannotParseResponse) }
    return challenge
}

/// Once per install. Returns the id of the device's key.
func registerDevice(${parameter.slice(2)}) async throws -> String {
    let keyId = try await device.generateKey()
    let challenge = try await newChallenge()
    let base64 = challenge.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/") + "="
    let hash = Data(SHA256.hash(data: Data(base64Encoded: base64)!))
    let attestation = try await device.attestKey(keyId, clientDataHash: hash).base64EncodedString()
    _ = try await authenticate("register", [${member}"key_id": keyId, "attestation": attestation, "challenge": challenge])
    return keyId
}

/// Once per hour.
func gatewayToken(keyId: String${parameter}) async throws -> String {
    let challenge = try await newChallenge()
    let text = "{\\"app\\":\\"\\(appId)\\",\\"challenge\\":\\"\\(challenge)\\",\\"key_id\\":\\"\\(keyId)\\"}"
    let hash = Data(SHA256.hash(data: Data(text.utf8)))
    let assertion = try await device.generateAssertion(keyId, clientDataHash: hash).base64EncodedString()
    let answer = try await authenticate("token", [${member}"key_id": keyId, "assertion": assertion, "challenge": challenge])
    guard let token = answer["access_token"] as? String else { throw URLError(.cannotParseResponse) }
    return token
}

/// Each call.
func callModel(token: String) async throws -> Data {
    let body = Data(${text(JSON.stringify(target.body))}.utf8)
    let version = Bundle.main.infoDictionary?["CFBundleShortVersionString"] as? String ?? "0"
    return try await post(${text(target.path)}, body, headers: ["Authorization": "Bearer " + token, "X-App-Version": version${further}])
}
`;
  const notes = [KEY_NOTE, DEVICE_NOTE, ...(hasIssuer ? [ISSUER_NOTE] : []), ...target.notes];
  return { language: 'swift', snippet, notes };
}

/** A text as a literal without interpolation. */
function text(value: string): string {
  const escaped = value.replace(/[\\"]|\p{Cc}/gu, (sign) =>
    sign === '\\' || sign === '"' ? `\\${sign}` : `\\u{${sign.charCodeAt(0).toString(16)}}`,
  );
  return `"${escaped}"`;
}

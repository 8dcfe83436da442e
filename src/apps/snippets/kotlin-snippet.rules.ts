import type { Proofs } from '../../app-directory/config/device-proofs-config.js';
import type { Snippet } from '../dto/app-snippet.response.js';
import { type SnippetCall, unsupported } from './snippet-target.rules.js';

const THREAD_NOTE = 'The functions block: call them off the main thread. They need Android 8 (API 26).';
const KEY_NOTE =
  'Call registerDevice once per install; the key is stored in the keystore. Get a new token within every hour.';
const EMULATOR_NOTE = 'Emulators and phones with an unlocked bootloader are refused.';
const PLAY_NOTE =
  'The library is com.google.android.play:integrity; CLOUD_PROJECT_NUMBER is that of the project linked in Play Console.';
const ISSUER_NOTE = 'issuerToken is the user’s token from the identity provider of the application.';

/** How a phone registers its key. */
interface Registration {
  readonly proof: 'key_attestation' | 'play_integrity';
  readonly imports: readonly string[];
  readonly constants: string;
  /** Parameters before that of the identity token. */
  readonly parameters: readonly string[];
  /** Between the challenge and the request. */
  readonly makeKey: string;
  readonly members: string;
  readonly notes: readonly string[];
}

const KEY_SPEC = `    val spec = KeyGenParameterSpec.Builder(KEY, PURPOSE_SIGN)
        .setAlgorithmParameterSpec(ECGenParameterSpec("secp256r1"))
        .setDigests(DIGEST_SHA256)`;
const GENERATE =
  '    KeyPairGenerator.getInstance(KEY_ALGORITHM_EC, "AndroidKeyStore").apply { initialize(spec) }.generateKeyPair()';

const ATTESTED: Registration = {
  proof: 'key_attestation',
  imports: [],
  constants: '',
  parameters: [],
  makeKey: `${KEY_SPEC}
        .setAttestationChallenge(Base64.getUrlDecoder().decode(challenge))
        .build()
${GENERATE}
    val chain = keyStore().getCertificateChain(KEY).map { base64(it.encoded) }`,
  members: `.put("certificate_chain", JSONArray(chain))`,
  notes: [EMULATOR_NOTE],
};

/** A key of the application's own; the token is bound to it and to the challenge. */
const OWN_KEY = `${KEY_SPEC}
        .build()
${GENERATE}
    val hash = Base64.getUrlEncoder().withoutPadding().encodeToString(sha256(clientData(challenge).toByteArray()))`;
const PLAY = {
  proof: 'play_integrity',
  parameters: ['context: Context'],
  members: `.put("public_key", base64(publicKey().encoded)).put("integrity_token", integrityToken)`,
} as const;
const PLAY_IMPORTS = ['android.content.Context', 'com.google.android.gms.tasks.Tasks'];

/** Standard requests, which only the vendor decodes. */
const STANDARD: Registration = {
  ...PLAY,
  imports: [
    ...PLAY_IMPORTS,
    'com.google.android.play.core.integrity.IntegrityManagerFactory',
    'com.google.android.play.core.integrity.StandardIntegrityManager.PrepareIntegrityTokenRequest',
    'com.google.android.play.core.integrity.StandardIntegrityManager.StandardIntegrityTokenRequest',
  ],
  constants: '\nconst val CLOUD_PROJECT_NUMBER = 0L',
  makeKey: `${OWN_KEY}
    val prepare = PrepareIntegrityTokenRequest.builder().setCloudProjectNumber(CLOUD_PROJECT_NUMBER).build()
    val provider = Tasks.await(IntegrityManagerFactory.createStandard(context).prepareIntegrityToken(prepare))
    val request = StandardIntegrityTokenRequest.builder().setRequestHash(hash).build()
    val integrityToken = Tasks.await(provider.request(request)).token()`,
  notes: [PLAY_NOTE],
};

/** Classic requests, whose tokens the gateway can decode itself. */
const CLASSIC: Registration = {
  ...PLAY,
  imports: [
    ...PLAY_IMPORTS,
    'com.google.android.play.core.integrity.IntegrityManagerFactory',
    'com.google.android.play.core.integrity.IntegrityTokenRequest',
  ],
  constants: '\nconst val CLOUD_PROJECT_NUMBER = 0L',
  makeKey: `${OWN_KEY}
    val request = IntegrityTokenRequest.builder().setNonce(hash).setCloudProjectNumber(CLOUD_PROJECT_NUMBER).build()
    val integrityToken = Tasks.await(IntegrityManagerFactory.create(context).requestIntegrityToken(request)).token()`,
  notes: [PLAY_NOTE],
};

const IMPORTS = [
  'android.security.keystore.KeyGenParameterSpec',
  'android.security.keystore.KeyProperties.DIGEST_SHA256',
  'android.security.keystore.KeyProperties.KEY_ALGORITHM_EC',
  'android.security.keystore.KeyProperties.PURPOSE_SIGN',
  'java.net.HttpURLConnection',
  'java.net.URL',
  'java.security.KeyPairGenerator',
  'java.security.KeyStore',
  'java.security.MessageDigest',
  'java.security.PrivateKey',
  'java.security.PublicKey',
  'java.security.Signature',
  'java.security.spec.ECGenParameterSpec',
  'java.util.Base64',
  'org.json.JSONArray',
  'org.json.JSONObject',
];

/**
 * The call in Kotlin, for a mobile application that accepts a proof of Android devices; of both, key attestation is
 * preferred to Play Integrity.
 *
 * @throws unsupported_snippet the application has keys, accepts no such proof, or the call is a form. Source:
 * docs/reference/application-api.md#device-attestation, docs/reference/application-api.md#token-exchange.
 */
export function kotlinSnippet({ origin, appId, authentication, target }: SnippetCall): Snippet {
  if (authentication.type === 'api_key') {
    throw unsupported('An application key must not be part of an app that people install; use curl.');
  }
  const registration = authentication.type === 'device_proofs' ? registrationOf(authentication.proofs) : undefined;
  if (registration === undefined) throw unsupported('The application accepts no proof of Android devices; use curl.');
  if (target.body === undefined) throw unsupported('There is no Kotlin example for uploads; use curl.');
  const hasIssuer = authentication.end_user.source === 'issuer';
  const parameter = hasIssuer ? ['issuerToken: String'] : [];
  const member = hasIssuer ? '.put("issuer_token", issuerToken)' : '';
  const further = target.headers.map(([name, value]) => `, ${text(name)} to ${text(value)}`).join('');
  const unused = registration.proof === 'key_attestation' ? [] : ['org.json.JSONArray'];
  const imports = [...registration.imports, ...IMPORTS].filter((name) => !unused.includes(name)).toSorted();
  const snippet = `${imports.map((name) => `import ${name}`).join('\n')}

const val APP_ID = ${text(appId)}
const val APP_URL = ${text(`${origin}/v1/apps/${appId}/`)}
/** In the system keystore. */
const val KEY = "gateway"${registration.constants}

fun base64(bytes: ByteArray): String = Base64.getEncoder().encodeToString(bytes)

fun sha256(bytes: ByteArray): ByteArray = MessageDigest.getInstance("SHA-256").digest(bytes)

fun keyStore(): KeyStore = KeyStore.getInstance("AndroidKeyStore").apply { load(null) }

fun publicKey(): PublicKey = keyStore().getCertificate(KEY).publicKey

/** The hash of the point, which is the end of the key. */
fun keyId(): String = base64(sha256(publicKey().encoded.takeLast(65).toByteArray()))

/** Sends JSON, and returns the response body if it succeeded. */
fun post(path: String, body: String, headers: Map<String, String> = emptyMap()): String {
    val connection = URL(APP_URL + path).openConnection() as HttpURLConnection
    connection.requestMethod = "POST"
    connection.doOutput = true
    connection.setRequestProperty("Content-Type", "application/json")
    headers.forEach { (name, value) -> connection.setRequestProperty(name, value) }
    connection.outputStream.use { it.write(body.toByteArray()) }
    check(connection.responseCode == 200) { "status \${connection.responseCode}" }
    return connection.inputStream.bufferedReader().use { it.readText() }
}

fun newChallenge(): String = JSONObject(post("auth/challenge", "{}")).getString("challenge")

/** What the device signs: these members in this order, no blanks. */
fun clientData(challenge: String): String = """{"app":"$APP_ID","challenge":"$challenge","key_id":"\${keyId()}"}"""

/** Once per install. */
fun registerDevice(${[...registration.parameters, ...parameter].join(', ')}) {
    val challenge = newChallenge()
${registration.makeKey}
    val body = JSONObject().put("proof", "${registration.proof}").put("key_id", keyId())
        .put("challenge", challenge)${registration.members}${member}
    post("auth/register", body.toString())
}

/** Once per hour. */
fun gatewayToken(${parameter.join(', ')}): String {
    val challenge = newChallenge()
    val signature = Signature.getInstance("SHA256withECDSA").run {
        initSign(keyStore().getKey(KEY, null) as PrivateKey)
        update(clientData(challenge).toByteArray())
        sign()
    }
    val body = JSONObject().put("proof", "${registration.proof}").put("key_id", keyId())
        .put("challenge", challenge).put("signature", base64(signature))${member}
    return JSONObject(post("auth/token", body.toString())).getString("access_token")
}

/** Each call. */
fun callModel(token: String, appVersion: String): String {
    val body = ${text(JSON.stringify(target.body))}
    return post(${text(target.path)}, body, mapOf("Authorization" to "Bearer " + token, "X-App-Version" to appVersion${further}))
}
`;
  const notes = [KEY_NOTE, THREAD_NOTE, ...registration.notes, ...(hasIssuer ? [ISSUER_NOTE] : []), ...target.notes];
  return { language: 'kotlin', snippet, notes };
}

function registrationOf({ key_attestation, play_integrity }: Proofs): Registration | undefined {
  if (key_attestation !== undefined) return ATTESTED;
  return play_integrity && (play_integrity.decode === 'local' ? CLASSIC : STANDARD);
}

/** A text as a literal without templates. */
function text(value: string): string {
  const escaped = value.replace(/[\\"$]|\p{Cc}/gu, (sign) =>
    /[\\"$]/.test(sign) ? `\\${sign}` : `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return `"${escaped}"`;
}

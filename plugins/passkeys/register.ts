import type { RegistrationResponseJSON } from '@simplewebauthn/server'
import * as v from 'valibot'
import { bytes } from './verify.ts'
import { loadWebAuthn } from './webauthn.ts'

/** What the page sends of a new passkey: without the attestation, which nothing needs. */
const responseSchema = v.pipe(
  v.string(),
  v.maxLength(16_384),
  v.parseJson(),
  v.object({
    id: v.pipe(bytes, v.nonEmpty(), v.maxLength(1400)),
    rawId: bytes,
    type: v.literal('public-key'),
    response: v.object({ clientDataJSON: bytes, authenticatorData: bytes }),
  }),
)

/** ES256, RS256, and EdDSA, as COSE algorithms. */
export const passkeyAlgorithms: readonly number[] = [-7, -257, -8]

const toBytes = (base64url: string): Uint8Array =>
  Uint8Array.from(atob(base64url.replaceAll('-', '+').replaceAll('_', '/')), (letter) => letter.charCodeAt(0))
const toBase64url = (data: Uint8Array): string =>
  btoa(String.fromCharCode(...data))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')

const text = (value: string): readonly number[] => [0x60 + value.length, ...new TextEncoder().encode(value)]

/**
 * Returns an attestation object without an attestation (WebAuthn Level 3 section 8.7). The certificates of an attestation
 * come from a stranger, and checking them would fetch the URLs that they contain.
 */
function withoutAttestation(authenticatorData: string): string {
  const bytes = toBytes(authenticatorData)
  const head = [0xa3, ...text('fmt'), ...text('none'), ...text('attStmt'), 0xa0, ...text('authData')]
  return toBase64url(Uint8Array.from([...head, 0x59, bytes.length >> 8, bytes.length & 255, ...bytes]))
}

export interface NewPasskey {
  readonly id: string
  readonly publicKey: string
  readonly counter: number
}

/**
 * Returns the passkey of a response; `undefined` if the response is not valid. The device must have verified its user.
 *
 * @see WebAuthn Level 3 section 7.1
 */
export async function verifyRegistration(
  credential: string,
  expected: { readonly challenge: string; readonly origin: string; readonly rpId: string },
): Promise<NewPasskey | undefined> {
  const parsed = v.safeParse(responseSchema, credential)
  if (!parsed.success) return undefined
  const { clientDataJSON, authenticatorData } = parsed.output.response
  const { verifyRegistrationResponse } = await loadWebAuthn()
  const response: RegistrationResponseJSON = {
    ...parsed.output,
    response: { clientDataJSON, attestationObject: withoutAttestation(authenticatorData) },
    clientExtensionResults: {},
  }
  const result = await verifyRegistrationResponse({
    response,
    expectedChallenge: expected.challenge,
    expectedOrigin: expected.origin,
    expectedRPID: expected.rpId,
    requireUserVerification: true,
    supportedAlgorithmIDs: [...passkeyAlgorithms],
    // The library throws for each mistake of the response, which is no defect.
  }).catch(() => undefined)
  if (result?.verified !== true) return undefined
  const { id, publicKey, counter } = result.registrationInfo.credential
  return id === parsed.output.id ? { id, publicKey: toBase64url(publicKey), counter } : undefined
}

import type { EndpointKit, MaybePromise } from '@grantry/core'
import type { AuthenticationResponseJSON } from '@simplewebauthn/server'
import * as v from 'valibot'
import type { PasskeyResponse, PasskeyUser } from '../shared/passkey-check.ts'
import { loadWebAuthn } from './webauthn.ts'

/** A passkey that a user has registered with your application. */
export interface StoredPasskey extends PasskeyUser {
  /** The COSE key, as `verifyRegistrationResponse()` returned it. */
  readonly publicKey: Uint8Array
  /** The counter of the last use. */
  readonly counter: number
}

export const bytes = v.pipe(v.string(), v.regex(/^[\w-]*$/u), v.maxLength(4096))

/** @see WebAuthn Level 3 section 5.1.8 */
const responseSchema = v.pipe(
  v.string(),
  v.maxLength(16_384),
  v.parseJson(),
  v.object({
    id: v.pipe(bytes, v.nonEmpty()),
    rawId: bytes,
    type: v.literal('public-key'),
    response: v.object({
      clientDataJSON: bytes,
      authenticatorData: bytes,
      signature: bytes,
      userHandle: v.exactOptional(bytes),
    }),
  }),
)

/** The functions that read and update stored passkeys. */
export interface PasskeyPort {
  readonly rpId?: string | undefined
  find(credentialId: string, kit: EndpointKit): MaybePromise<StoredPasskey | undefined>
  onUse(credentialId: string, counter: number, kit: EndpointKit): MaybePromise<void>
}

const isSameKey = ({ publicKey: left }: StoredPasskey, { publicKey: right }: StoredPasskey): boolean =>
  left.length === right.length && left.every((byte, index) => byte === right[index])

/**
 * Returns the owner of the passkey that has signed the challenge; `undefined` if it is unknown, or the response not valid.
 *
 * @see WebAuthn Level 3 section 7.2
 */
export async function verifyPasskey(
  { credential, challenge, origin, readState, onUnknown }: PasskeyResponse,
  kit: EndpointKit,
  { find, onUse, rpId }: PasskeyPort,
): Promise<PasskeyUser | undefined> {
  const parsed = v.safeParse(responseSchema, credential)
  if (!parsed.success) return undefined
  const { id } = parsed.output
  const stored = await find(id, kit)
  if (stored === undefined) {
    onUnknown?.({ id, userHandle: parsed.output.response.userHandle })
    return undefined
  }
  await readState?.(stored.sub)
  const { verifyAuthenticationResponse } = await loadWebAuthn()
  const response: AuthenticationResponseJSON = { ...parsed.output, clientExtensionResults: {} }
  const result = await verifyAuthenticationResponse({
    response,
    expectedChallenge: challenge,
    expectedOrigin: origin,
    expectedRPID: rpId ?? new URL(origin).hostname,
    requireUserVerification: true,
    credential: { id, publicKey: Uint8Array.from(stored.publicKey), counter: stored.counter },
    // The library throws for each mistake of the response, which is no defect.
  }).catch(() => undefined)
  if (result?.verified !== true) return undefined
  const current = await find(id, kit)
  // Removed, or given to another user, while it was verified.
  if (current?.sub !== stored.sub || !isSameKey(current, stored)) return undefined
  await onUse(id, result.authenticationInfo.newCounter, kit)
  return { sub: stored.sub, name: stored.name }
}

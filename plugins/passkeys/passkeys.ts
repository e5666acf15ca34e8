import { configurationObject, parseConfiguration } from '@grantry/core'
import { type AuthenticationResponseJSON, verifyAuthenticationResponse } from '@simplewebauthn/server'
import * as v from 'valibot'
import { functionSchema } from '../shared/config-schema.ts'
import type { PasskeyCheck, PasskeyUser } from '../shared/passkey-check.ts'

/** A passkey that a user has registered with your application. */
export interface StoredPasskey extends PasskeyUser {
  /** The COSE key, as `verifyRegistrationResponse()` returned it. */
  readonly publicKey: Uint8Array
  /** The counter of the last use. */
  readonly counter: number
}

export interface PasskeysOptions {
  /** Returns a passkey by the id of its credential (base64url); `undefined` if there is none, or its user may not sign in. */
  find(credentialId: string): StoredPasskey | undefined | Promise<StoredPasskey | undefined>
  /** Stores the counter of a use. */
  onUse?: ((credentialId: string, counter: number) => void | Promise<void>) | undefined
  /** Removes all passkeys of a user, when an administrator resets the second factors. */
  reset?: ((sub: string) => void | Promise<void>) | undefined
  /** The domain of the passkeys. Default: the host of the issuer. */
  readonly rpId?: string | undefined
}

const optionsSchema = configurationObject({
  find: v.custom<PasskeysOptions['find']>((value) => typeof value === 'function', 'must be a function'),
  onUse: functionSchema<NonNullable<PasskeysOptions['onUse']>>(),
  reset: functionSchema<NonNullable<PasskeysOptions['reset']>>(),
  rpId: v.optional(v.pipe(v.string('must be a string'), v.nonEmpty('must not be empty'))),
})

const bytes = v.pipe(v.string(), v.regex(/^[\w-]*$/u), v.maxLength(4096))

/** @see WebAuthn Level 3 section 5.1.8 */
const responseSchema = v.pipe(
  v.string(),
  v.maxLength(16_384),
  v.parseJson(),
  v.object({
    id: v.pipe(bytes, v.nonEmpty()),
    rawId: bytes,
    type: v.literal('public-key'),
    response: v.object({ clientDataJSON: bytes, authenticatorData: bytes, signature: bytes }),
  }),
)

/**
 * Passkeys: users sign in with a key of their device or password manager, without a password. For `signIn({ passkeys })`.
 *
 * @throws TypeError when an option is malformed.
 * @see WebAuthn Level 3 section 7.2
 */
export function passkeys(options: PasskeysOptions): PasskeyCheck {
  const { find, onUse, reset, rpId } = parseConfiguration(optionsSchema, options, 'passkeys()')
  return {
    rpId,
    limitsHostCalls: true,
    async verify({ credential, challenge, origin, onFound }, kit) {
      const parsed = v.safeParse(responseSchema, credential)
      if (!parsed.success) return undefined
      const { id } = parsed.output
      const stored = await kit.callHost('passkeys.find', () => find(id))
      if (stored === undefined) return undefined
      onFound?.(stored.sub)
      const response: AuthenticationResponseJSON = { ...parsed.output, clientExtensionResults: {} }
      const result = await verifyAuthenticationResponse({
        response,
        expectedChallenge: challenge,
        expectedOrigin: origin,
        expectedRPID: rpId ?? new URL(origin).hostname,
        requireUserVerification: true,
        credential: { id, publicKey: Uint8Array.from(stored.publicKey), counter: stored.counter },
        // It throws for each mistake of the response, which is no defect.
      }).catch(() => undefined)
      if (result?.verified !== true) return undefined
      await kit.callHost('passkeys.onUse', () => onUse?.(id, result.authenticationInfo.newCounter))
      return { sub: stored.sub, name: stored.name }
    },
    ...(reset !== undefined && { reset: (sub, kit) => kit.callHost('passkeys.reset', () => reset(sub)) }),
  }
}

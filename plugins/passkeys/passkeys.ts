import { configurationObject, type OptionsOf, parseConfiguration } from '@grantry/core'
import * as v from 'valibot'
import { functionSchema, requiredFunctionSchema } from '../shared/config-schema.ts'
import type { PasskeyCheck } from '../shared/passkey-check.ts'
import { type StoredPasskey, verifyPasskey } from './verify.ts'

export type { AccountPasskey, AccountPasskeys, NewAccountPasskey } from '../shared/account-factors.ts'
export { type StoredPasskeys, type StoredPasskeysOptions, storedPasskeys } from './stored-passkeys.ts'
export type { StoredPasskey } from './verify.ts'

export const passkeysSchema = configurationObject({
  /** Returns a passkey by the id of its credential (base64url); `undefined` if there is none, or its user may not sign in. */
  find: requiredFunctionSchema<
    (credentialId: string) => StoredPasskey | undefined | Promise<StoredPasskey | undefined>
  >(),
  /** Stores the counter of a use. */
  onUse: functionSchema<(credentialId: string, counter: number) => void | Promise<void>>(),
  /** Removes all passkeys of a user, when an administrator resets the second factors. */
  reset: functionSchema<(sub: string) => void | Promise<void>>(),
  /** The domain of the passkeys. Default: the host of the issuer. */
  rpId: v.optional(v.pipe(v.string('must be a string'), v.nonEmpty('must not be empty'))),
})

export type PasskeysOptions = OptionsOf<typeof passkeysSchema>

/**
 * Passkeys: users sign in with a key of their device or password manager, without a password. For `signIn({ passkeys })`.
 *
 * @throws TypeError when an option is malformed.
 * @see WebAuthn Level 3 section 7.2
 */
export function passkeys(options: PasskeysOptions): PasskeyCheck {
  const { find, onUse, reset, rpId } = parseConfiguration(passkeysSchema, options, 'passkeys()')
  return {
    rpId,
    limitsHostCalls: true,
    // Not `onUnknown`: `find` also hides passkeys whose users may not sign in now.
    verify: ({ onUnknown: _, ...response }, kit) =>
      verifyPasskey(response, kit, {
        rpId,
        find: (id) => kit.callHost('passkeys.find', () => find(id)),
        onUse: (id, counter) => kit.callHost('passkeys.onUse', () => onUse?.(id, counter)),
      }),
    ...(reset !== undefined && { reset: (sub, kit) => kit.callHost('passkeys.reset', () => reset(sub)) }),
  }
}

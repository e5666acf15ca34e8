import { configurationObject, type EndpointKit } from '@grantry/core'
import * as v from 'valibot'
import { functionSchema, wholeNumber } from './config-schema.ts'
import { type PasswordProblem, type PasswordRules, passwordProblem } from './password-rules.ts'

/** The rules for new passwords that are data. Characters; the sign-in accepts no longer password than 1024. */
export const newPasswordEntries = {
  /** The least number of characters. */
  minLength: v.optional(wholeNumber(8, 64), 12),
  maxLength: v.optional(wholeNumber(64, 1024), 256),
}

export const newPasswordsSchema = configurationObject({
  ...newPasswordEntries,
  isCommon: functionSchema<NonNullable<PasswordRules['isCommon']>>(),
})

export type NewPasswords = v.InferOutput<typeof newPasswordsSchema>

export interface NewPasswordsOptions {
  /** Characters. Default: 12. */
  readonly minLength?: number | undefined
  /** Characters. Default: 256. */
  readonly maxLength?: number | undefined
  /** Whether a password is among those that attackers try first. Default: none is. */
  readonly isCommon?: ((password: string) => boolean | Promise<boolean>) | undefined
}

/**
 * Checks a new password. A list that does not respond must not keep users from their accounts.
 *
 * @param names what the user is called
 * @param by what asks for the password, for the event
 */
export function newPasswordProblem(
  password: string,
  names: readonly string[],
  by: string,
  { minLength: least, maxLength: most, isCommon }: NewPasswords,
  kit: EndpointKit,
): Promise<PasswordProblem | undefined> {
  return passwordProblem(password, [...names, new URL(kit.issuer).hostname], {
    least,
    most,
    async isCommon(text) {
      if (isCommon === undefined) return false
      try {
        return await kit.callHost('selfService.passwords.isCommon', () => isCommon(text))
      } catch {
        kit.recordUser({ type: 'password_unchecked', by }, {})
        return false
      }
    },
  })
}

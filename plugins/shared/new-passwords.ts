import { configurationObject, type EndpointKit, type OptionsOf } from '@grantry/core'
import * as v from 'valibot'
import { functionSchema, wholeNumber } from './config-schema.ts'
import { type PasswordProblem, type PasswordRules, passwordProblem } from './password-rules.ts'

/** The rules for new passwords that are data. Characters; the sign-in accepts no longer password than 1024. */
export const newPasswordEntries = {
  /** The least number of characters. Default: 12. */
  minLength: v.optional(wholeNumber(8, 64), 12),
  /** The greatest number of characters. Default: 256. */
  maxLength: v.optional(wholeNumber(64, 1024), 256),
}

export const newPasswordsSchema = configurationObject({
  ...newPasswordEntries,
  /** Whether a password is among those that attackers try first. Default: none is. */
  isCommon: functionSchema<NonNullable<PasswordRules['isCommon']>>(),
})

export type NewPasswordsOptions = OptionsOf<typeof newPasswordsSchema>

export type NewPasswords = v.InferOutput<typeof newPasswordsSchema>

/**
 * Checks a new password. A list that does not respond must not keep users from their accounts.
 *
 * @param names the names of the user
 * @param by the page that asks for the password, for the event
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

import { defineGrant, type Grant, OAuthError } from '@grantry/core'
import * as v from 'valibot'
import { parseAcrValues } from './acr-values.ts'

const notBlank = (longest: number) =>
  v.pipe(
    v.string(),
    v.maxLength(longest),
    v.check((text) => text.trim() !== ''),
  )

const refusal = 'The user name or password is not valid'

const params = v.object({
  username: notBlank(256),
  password: notBlank(1024),
  acr_values: v.optional(v.pipe(v.string(), v.maxLength(300))),
})

/**
 * The password grant: exchanges a user name and password for tokens. An unknown user, a wrong password and an inactive
 * user cause the same refusal.
 *
 * @see RFC 6749 section 4.3; wire contract, section 3
 */
export const password = (): Grant<typeof params> =>
  defineGrant({
    grantType: 'password',
    params,
    refusal,
    requires: ['users.authenticate'],
    async handle({ client, params: { username, password, acr_values }, scopes }, kit) {
      const acr = parseAcrValues(acr_values, client.identityProviders)
      const subject = await kit.authenticateUser({ username, password, ...acr })
      if (subject === undefined) {
        throw new OAuthError('invalid_grant', refusal, {
          reason: 'plugin:password:wrong_credentials',
        })
      }
      return { subject, scopes }
    },
  })

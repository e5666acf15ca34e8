import { defineGrant, type Grant, passwords } from '@grantry/core'
import * as v from 'valibot'

const notBlank = (maxLength: number) =>
  v.pipe(
    v.string(),
    v.maxLength(maxLength),
    v.check((text) => text.trim() !== ''),
  )

const refusal = 'The user name or password is not valid'

const params = v.object({
  username: notBlank(256),
  password: notBlank(1024),
  acr_values: v.optional(v.pipe(v.string(), v.maxLength(300))),
})

/** Parsed `acr_values` (seed, section 2.1). `idp:` and `tenant:` have a meaning; other values are passed through. */
interface AcrValues {
  /** The requested identity provider, if the client is allowed to request it. */
  readonly idp?: string
  readonly tenant?: string
  readonly acrValues?: readonly string[]
}

/** @param allowedProviders the identity providers that the client may request; empty allows any */
function parseAcrValues(text: string | undefined, allowedProviders: readonly string[]): AcrValues {
  let idp: string | undefined
  let tenant: string | undefined
  const rest: string[] = []
  // A set, because repeated values have no extra meaning.
  for (const value of new Set(text?.split(' '))) {
    if (value === '') continue
    if (idp === undefined && value.startsWith('idp:')) idp = value.slice('idp:'.length)
    else if (tenant === undefined && value.startsWith('tenant:')) tenant = value.slice('tenant:'.length)
    else rest.push(value)
  }
  const allowsAny = allowedProviders.length === 0
  return {
    ...(idp !== undefined && (allowsAny || allowedProviders.includes(idp)) && { idp }),
    ...(tenant !== undefined && { tenant }),
    ...(rest.length > 0 && { acrValues: rest }),
  }
}

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
    requires: [passwords],
    async handle({ client, params: { username, password, acr_values }, scopes }, kit) {
      const acr = parseAcrValues(acr_values, client.identityProviders)
      const subject = await kit.authenticateUser({ username, password, ...acr })
      if (subject === undefined) throw kit.refuse('invalid_grant', refusal, 'wrong_credentials')
      return { subject, scopes }
    },
  })

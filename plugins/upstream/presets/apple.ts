import { configurationObject, type OptionsOf, parseConfiguration } from '@grantry/core'
import { SignJWT } from 'jose/jwt/sign'
import { importPKCS8 } from 'jose/key/import'
import * as v from 'valibot'
import { presetEntries, type UpstreamProvider } from '../upstream-options.ts'

const { clientSecret: _, ...entries } = presetEntries('apple', 'Apple')
const id = v.pipe(v.string('must be a string'), v.regex(/^[A-Z\d]{10}$/u, 'must be 10 capital letters and digits'))

export const appleSchema = configurationObject({
  ...entries,
  teamId: id,
  keyId: id,
  /** The content of the file `AuthKey_….p8`. */
  privateKey: v.pipe(
    v.string('must be a string'),
    v.regex(/^-----BEGIN PRIVATE KEY-----/u, 'must be the content of the file AuthKey_….p8'),
  ),
})

export type AppleOptions = OptionsOf<typeof appleSchema>

const issuer = 'https://appleid.apple.com'
/** Seconds for which a signed client secret counts. */
const secretLifetime = 300
const maxNameLength = 100

/** Returns the name, which Apple sends with the first sign-in only, through the browser, so that it is not proved. */
function nameIn({ user }: Readonly<Record<string, string>>): Readonly<Record<string, unknown>> {
  try {
    const { firstName, lastName } = Object(Object(JSON.parse(user ?? '')).name) as Record<string, unknown>
    const names = [firstName, lastName].filter(
      (part): part is string => typeof part === 'string' && part !== '' && part.length <= maxNameLength,
    )
    return names.length > 0 ? { name: names.join(' ') } : {}
  } catch {
    return {}
  }
}

/**
 * Users sign in with Apple. Its client secret is a JWT that this provider signs for each request, and its response a form of
 * another site. Requests carry the name of the user only once: keep it.
 *
 * @throws TypeError when an option is malformed.
 */
export function apple(options: AppleOptions): UpstreamProvider {
  const { teamId, keyId, privateKey, ...common } = parseConfiguration(appleSchema, options, 'apple()')
  let key: ReturnType<typeof importPKCS8> | undefined
  return {
    ...common,
    issuer,
    scope: 'openid name email',
    responseMode: 'form_post',
    userinfo: false,
    adapter: {
      authenticate: (kit) => async (_server, client, body) => {
        key ??= importPKCS8(privateKey, 'ES256')
        const now = kit.now()
        const secret = await new SignJWT({ iss: teamId, sub: client.client_id, aud: issuer })
          .setProtectedHeader({ alg: 'ES256', kid: keyId })
          .setIssuedAt(now)
          .setExpirationTime(now + secretLifetime)
          .sign(await key)
        body.set('client_id', client.client_id)
        body.set('client_secret', secret)
      },
      claimsOf: nameIn,
    },
  }
}

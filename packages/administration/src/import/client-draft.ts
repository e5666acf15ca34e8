import { algorithms, entryProblem, hashSecret, redirectUriProblem } from '@grantry/core'
import type { Members } from '../differences.ts'
import { hasPlaceholder, isPlaceholder } from './exported-values.ts'
import type { Reader } from './reader.ts'

/** Grant types of the ready server, and the plugins that the others need. */
const grantTypes: ReadonlyMap<string, string | undefined> = new Map([
  ['authorization_code', undefined],
  ['client_credentials', undefined],
  ['password', undefined],
  ['refresh_token', undefined],
  ['urn:ietf:params:oauth:grant-type:device_code', 'device-authorization'],
  ['urn:ietf:params:oauth:grant-type:jwt-bearer', 'jwt-bearer'],
  ['urn:ietf:params:oauth:grant-type:token-exchange', 'token-exchange'],
])

/** Characters of a secret below which the report advises to replace it: its stored hash is a fast one. */
const shortSecret = 16

/** Returns why an id cannot be taken over; `undefined` if it can. */
export const idProblem = (id: string): string | undefined =>
  entryProblem(id, null) ?? (hasPlaceholder(id) ? 'its id is a placeholder' : undefined)

/** Returns the grant types that have a counterpart, and reports the others. */
export function knownGrants(names: readonly string[], member: string, { note }: Reader): readonly string[] {
  return [...new Set(names)].filter((grant) => {
    if (!grantTypes.has(grant)) {
      note(member, `the grant type ${grant} has no counterpart`, 'sign-in')
      return false
    }
    const plugin = grantTypes.get(grant)
    if (plugin !== undefined) note(member, `the grant type ${grant} needs the plugin ${plugin}`, 'sign-in')
    return true
  })
}

/** Returns the URIs that a client can have, and reports the others. */
export function knownUris(uris: readonly string[], member: string, { note }: Reader): readonly string[] {
  return [...new Set(uris)].filter((uri) => {
    const problem = uri.includes('*') ? 'contains a wildcard: list the URIs' : redirectUriProblem(uri)
    if (problem !== undefined) note(member, `${uri} was left out: it ${problem}`, 'sign-in')
    return problem === undefined
  })
}

/** Returns the origins that a client can have, and reports the others. */
export function knownOrigins(origins: readonly string[], member: string, { note }: Reader): readonly string[] {
  return [...new Set(origins)].flatMap((text) => {
    try {
      const { origin } = new URL(text)
      if (origin !== 'null' && (text === origin || text === `${origin}/`)) return [origin]
    } catch {
      // Not a URL: reported below.
    }
    note(member, `${text} was left out: it is not an origin such as https://app.example.com`, 'sign-in')
    return []
  })
}

/** Returns the algorithm of identity tokens, if there is one like this. */
export function knownAlgorithm(algorithm: string | undefined, member: string, { note }: Reader): string | undefined {
  if (algorithm === undefined || (algorithms as readonly string[]).includes(algorithm)) return algorithm
  note(member, `the algorithm ${algorithm} has no counterpart; the client gets the default one`, 'token')
  return undefined
}

/**
 * Returns the hash of a plain secret, with its end; none for a placeholder, or if its time of expiry cannot be read.
 *
 * @param end epoch seconds; `NaN` if it cannot be read
 */
export function secretsOf(
  plain: string,
  member: string,
  { note }: Pick<Reader, 'note'>,
  end?: number | undefined,
): readonly Members[] {
  const problem = isPlaceholder(plain)
    ? 'it is a placeholder'
    : Number.isNaN(end)
      ? 'its time of expiry cannot be read'
      : undefined
  if (problem !== undefined) {
    note(member, `was left out: ${problem}; the client gets a new secret`, 'sign-in')
    return []
  }
  if (plain.length < shortSecret) note(member, `is shorter than ${shortSecret} characters; rotate it soon`, 'cosmetic')
  return [{ ...hashSecret(plain), ...(end !== undefined && { expiresAt: end }) }]
}

/** Grant types of clients with a secret or a key only. */
const confidentialGrants: readonly unknown[] = ['client_credentials', 'password']

/** Returns the grant types of a client. A public one cannot have all. */
function grantsOf({ public: isPublic, grantTypes: grants }: Members, { note }: Pick<Reader, 'note'>): unknown {
  if (isPublic !== true || !Array.isArray(grants)) return grants
  const left = grants.filter((grant) => confidentialGrants.includes(grant))
  if (left.length > 0)
    note(undefined, `the grant types ${left.join(', ')} were left out: the client is public`, 'sign-in')
  return grants.filter((grant) => !left.includes(grant))
}

/** Completes a client: without members that have no value. */
export function finished(draft: Members, reader: Pick<Reader, 'note'>): Members {
  const client: Members = { ...draft, grantTypes: grantsOf(draft, reader) }
  const isEmpty = (value: unknown): boolean => value === undefined || (Array.isArray(value) && value.length === 0)
  const entries = Object.entries(client).filter(([name, value]) => name === 'secrets' || !isEmpty(value))
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined))
}

/** Scopes that every provider has. */
const standardScopes: readonly string[] = ['openid', 'profile', 'email', 'address', 'phone', 'roles', 'offline_access']

/** Returns scopes that clients have, and that are not declared: a provider refuses a client with an unknown scope. */
export function missingScopes(clients: readonly Members[], declared: readonly Members[]): readonly Members[] {
  const known = new Set([...standardScopes, ...declared.map(({ name }) => String(name))])
  const used = clients.flatMap(({ scopes }) => (Array.isArray(scopes) ? (scopes as readonly string[]) : []))
  return [...new Set(used)].filter((name) => !known.has(name)).map((name) => ({ name }))
}

export const isStandardScope = (name: string): boolean => standardScopes.includes(name)

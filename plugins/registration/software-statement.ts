import type { EndpointKit, JsonObject, Kit } from '@grantry/core'
import type { JWTPayload } from 'jose'
import { fetchedUriProblem } from '../shared/fetched-uri.ts'
import { createPublishedKeys } from '../shared/jwks-uri.ts'
import { keySetOf } from '../shared/key-set.ts'
import { unverifiedJwt, type Verification, verifiedJwt } from '../shared/verify-jwt.ts'
import type { Settings, StatementIssuer } from './options.ts'

/** Seconds of clock skew that are allowed. */
const clockTolerance = 10

/** The claims of a statement about the client, or the reason why it is refused. */
export type Statement = { readonly claims: JsonObject; readonly reason?: undefined } | { readonly reason: string }

/** Verifies software statements. */
export interface SoftwareStatements {
  verify(jwt: string, kit: EndpointKit): Promise<Statement>
}

/** Claims of the JWT itself, and what only this provider determines. */
const foreign: ReadonlySet<string> = new Set([
  ...['iss', 'sub', 'aud', 'exp', 'nbf', 'iat', 'jti', 'software_statement'],
  ...['client_id', 'client_secret', 'registration_access_token', 'registration_client_uri'],
])

const metadataIn = (payload: JWTPayload): JsonObject =>
  Object.fromEntries(Object.entries(payload).filter(([name]) => !foreign.has(name))) as JsonObject

/** Returns the claims of a statement that was verified when it was stored. */
export function claimsOfStored(jwt: unknown): JsonObject {
  const { payload } = typeof jwt === 'string' ? unverifiedJwt(jwt, []) : {}
  return payload === undefined ? {} : metadataIn(payload)
}

type StatementSettings = NonNullable<Settings['softwareStatements']>

/** @throws TypeError when an issuer has not exactly one source of keys, or two have the same name. */
function assertIssuers({ issuers, jwksUri }: StatementSettings): void {
  for (const [index, { issuer, jwks, jwksUri: uri }] of issuers.entries()) {
    const where = `registration(): softwareStatements.issuers[${index}]`
    if ((jwks === undefined) === (uri === undefined)) throw new TypeError(`${where} must have either jwks or jwksUri`)
    if (issuers.findIndex((other) => other.issuer === issuer) < index) {
      throw new TypeError(`${where}.issuer is the same as an earlier one`)
    }
    const problem = uri === undefined ? undefined : fetchedUriProblem(uri, jwksUri)
    if (problem !== undefined) throw new TypeError(`${where}.jwksUri ${problem}`)
  }
}

/**
 * @throws TypeError for a mistake in the options
 * @see RFC 7591 section 2.3
 */
export function createSoftwareStatements(settings: StatementSettings): SoftwareStatements {
  assertIssuers(settings)
  const published = createPublishedKeys(settings.jwksUri)
  const known = new Map(
    settings.issuers.map((issuer) => [issuer.issuer, { ...issuer, keys: issuer.jwks && keySetOf(issuer.jwks) }]),
  )

  async function verified(jwt: string, issuer: StatementIssuer & { readonly keys?: unknown }, kit: Kit) {
    const rules = {
      issuer: issuer.issuer,
      algorithms: [...issuer.algorithms],
      currentDate: new Date(kit.now() * 1000),
      clockTolerance,
    }
    const { keys } = issuer as { readonly keys?: ReturnType<typeof keySetOf> }
    if (keys !== undefined) return verifiedJwt(jwt, keys, rules)
    return published.verify(
      issuer.jwksUri ?? '',
      kit,
      ({ find }): Promise<Verification> => verifiedJwt(jwt, find, rules),
    )
  }

  return {
    async verify(jwt, kit) {
      const { payload, reason } = unverifiedJwt(jwt, [])
      if (payload === undefined) return { reason }
      const issuer = payload.iss === undefined ? undefined : known.get(payload.iss)
      if (issuer === undefined) return { reason: 'issuer_unknown' }
      const outcome = await verified(jwt, issuer, kit)
      if (outcome.payload === undefined) return { reason: outcome.reason }
      // One for another server says what that server should register.
      const { aud } = outcome.payload
      const audiences = [kit.issuer, kit.endpointUrl('registration')]
      if (aud !== undefined && ![aud].flat().some((one) => audiences.includes(one))) return { reason: 'aud_invalid' }
      return { claims: metadataIn(outcome.payload) }
    },
  }
}

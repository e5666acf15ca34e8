import { type EndpointKit, type JsonObject, metadataName } from '@grantry/core'
import type { JWTPayload } from 'jose'
import { createConfiguredIssuers } from '../shared/configured-issuers.ts'
import { unverifiedJwt } from '../shared/verify-jwt.ts'
import type { Settings } from './registration-options.ts'

/** Seconds of clock skew that are allowed. */
const clockTolerance = 10

/** The claims of a statement about the client, or the reason why it is refused. */
export type Statement =
  | { readonly claims: JsonObject; readonly reason?: undefined }
  | { readonly claims?: undefined; readonly reason: string }

/** Verifies software statements. */
export interface SoftwareStatements {
  verify(jwt: string, kit: EndpointKit): Promise<Statement>
}

/** The claims of the JWT itself, and the members that only this provider determines. */
const foreign: ReadonlySet<string> = new Set([
  ...['iss', 'sub', 'aud', 'exp', 'nbf', 'iat', 'jti', 'software_statement'],
  ...['client_id', 'client_secret', 'registration_access_token', 'registration_client_uri'],
])

const metadataIn = (payload: JWTPayload): JsonObject =>
  Object.fromEntries(Object.entries(payload).filter(([name]) => !foreign.has(name))) as JsonObject

/** Returns the claims of a statement that was verified when it was stored. */
export function claimsOfStored(jwt: string): JsonObject {
  const { payload } = unverifiedJwt(jwt, [])
  return payload === undefined ? {} : metadataIn(payload)
}

/** Maps names for the same setting to one of them: a statement with any of these names determines the setting. */
const thingOf = (name: string): string => metadataName(name)?.sameAs ?? name

/** Returns metadata in which the claims of a statement take precedence, also over other names for the same setting. */
export function vouched(sent: JsonObject, claims: JsonObject, jwt: string): JsonObject {
  const decided = new Set(Object.keys(claims).map(thingOf))
  const others = Object.entries(sent).filter(([name]) => !decided.has(thingOf(name)))
  return { ...Object.fromEntries(others), ...claims, software_statement: jwt }
}

type StatementSettings = NonNullable<Settings['softwareStatements']>

/**
 * @throws TypeError for a mistake in the options
 * @see RFC 7591 section 2.3
 */
export function createSoftwareStatements(settings: StatementSettings): SoftwareStatements {
  const issuers = createConfiguredIssuers({ ...settings, clockTolerance }, 'registration(): softwareStatements.')

  return {
    async verify(jwt, kit) {
      const { payload, reason } = unverifiedJwt(jwt, [])
      if (payload === undefined) return { reason }
      const issuer = issuers.find(payload.iss)
      if (issuer === undefined) return { reason: 'issuer_unknown' }
      const outcome = await issuers.verify(jwt, issuer, kit)
      if (outcome.payload === undefined) return { reason: outcome.reason }
      // A statement for another server describes what that server should register.
      const { aud } = outcome.payload
      const audiences = [kit.issuer, kit.endpointUrl('registration')]
      if (aud !== undefined && ![aud].flat().some((audience) => audiences.includes(audience)))
        return { reason: 'aud_invalid' }
      return { claims: metadataIn(outcome.payload) }
    },
  }
}

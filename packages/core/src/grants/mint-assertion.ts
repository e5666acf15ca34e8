import * as v from 'valibot'
import type { Client } from '../directory/client.ts'
import { scopeName } from '../directory/scope.ts'
import { completeSubject } from '../directory/user-service.ts'
import { OAuthError } from '../errors/oauth-error.ts'
import { jsonObjectSchema } from '../json.ts'
import { type Capability, capabilityKind } from '../parts/capability.ts'
import { declaredType } from '../parts/fields.ts'
import type { Registry } from '../parts/registry.ts'
import { fingerprintOf } from '../records/keys.ts'
import { type Runtime, randomId } from '../runtime.ts'
import { foreignType, type Jwt } from '../tokens/jwt.ts'
import { assertUnchanged, type IsUnchanged, type RequestMarks } from '../tokens/revocation-mark.ts'
import type { Families } from '../tokens/stored-grant.ts'
import type { JsonObject } from '../types.ts'
import type { Issuance } from './issuance.ts'
import type { Minted } from './mint.ts'
import type { CheckedResult } from './result.ts'

/** A plugin is not trusted: what it returns is validated like any other input. */
const assertionSchema = v.strictObject({
  typ: v.pipe(v.string(), v.regex(foreignType)),
  tokenType: v.pipe(v.string(), v.minLength(1), v.maxLength(255)),
  audience: v.pipe(v.string(), v.minLength(1), v.maxLength(2000)),
  scopes: v.array(v.pipe(v.string(), v.regex(scopeName))),
  lifetime: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(3600)),
  claims: v.optional(jsonObjectSchema, {}),
})

/** The claims that only the core sets, and that of an identity token which would make the assertion one. */
const coreClaims = ['iss', 'sub', 'aud', 'iat', 'nbf', 'exp', 'jti', 'auth_time', 'amr', 'acr', 'scope', 'nonce']

interface AssertionRequest {
  readonly result: CheckedResult
  /** The plugin of the grant. */
  readonly plugin: string
  readonly client: Client
  readonly marks: Pick<RequestMarks, 'newMark'>
  /** The scopes of the request. */
  readonly requested: readonly string[]
  readonly grantType: string
  readonly issuance: Pick<Issuance, 'at'>
  /** Returns the refusal of the grant. */
  readonly refuse: (reason: string) => OAuthError
}

/**
 * Mints the assertion of a checked grant result. Nothing is stored.
 *
 * @throws OAuthError `invalid_scope` when it has a scope that was not requested; `invalid_client` if the client was
 * changed, and this request was decided by what it was before.
 * @throws TypeError (a defect in the plugin) when it is malformed, has no subject, is of a type that another plugin has
 * declared, or the result has more than it.
 */
export type MintAssertion = (request: AssertionRequest) => Promise<Minted>

export type OpenAssertions = (deps: {
  readonly issuer: string
  readonly jwt: Jwt
  readonly registry: Pick<Registry, 'signedTypes'>
  readonly families: Families
  readonly isUnchanged: IsUnchanged
  readonly observed: boolean
  readonly runtime: Runtime
}) => MintAssertion

/** @throws TypeError (a defect in the plugin) */
function assertionIn(
  { assertion, subject, issue, response, redeems, audience, claims, actor, requestedClaims }: CheckedResult,
  grantType: string,
) {
  const parsed = v.safeParse(assertionSchema, assertion)
  if (!parsed.success) {
    throw new TypeError(`The grant ${grantType} returned a malformed assertion: ${v.getDotPath(parsed.issues[0])}`)
  }
  const others = [issue, response, audience, claims, actor, requestedClaims]
  if (subject === undefined || redeems.length > 0 || others.some((member) => member !== undefined)) {
    throw new TypeError(`The grant ${grantType} can return an assertion for a subject only, and no token`)
  }
  const reserved = Object.keys(parsed.output.claims).find((claim) => coreClaims.includes(claim))
  if (reserved !== undefined) throw new TypeError(`A grant cannot set the claim ${reserved} of an assertion`)
  return { ...parsed.output, subject }
}

const open: OpenAssertions =
  ({ issuer, jwt, registry, families, isUnchanged, observed, runtime }) =>
  async ({ result, plugin, client, marks, requested, grantType, issuance: { at }, refuse }) => {
    const { typ, tokenType, audience, scopes, claims, subject, ...assertion } = assertionIn(result, grantType)
    declaredType(registry.signedTypes, typ, plugin)
    if (result.scopes.length > 0 || (requested.length > 0 && !scopes.every((name) => requested.includes(name)))) {
      throw new OAuthError('invalid_scope', 'The scope is not valid', { reason: 'scope_escalation' })
    }
    const { sub, authTime, amr, acr, idp } = completeSubject(subject, at)
    const { clientState } = await marks.newMark(sub)
    await assertUnchanged(isUnchanged, client, clientState)
    const lifetime = Math.min(assertion.lifetime, (result.lineage?.expiresAt ?? Number.POSITIVE_INFINITY) - at)
    // The clock tolerance can accept a token that has just expired.
    if (lifetime < 1) throw refuse('token_expired')
    const scope = scopes.join(' ')
    const payload: JsonObject = {
      iss: issuer,
      sub,
      aud: audience,
      iat: at,
      exp: at + lifetime,
      jti: randomId(runtime, 16),
      auth_time: authTime,
      amr,
      ...(acr !== undefined && { acr }),
      ...(scope !== '' && { scope }),
      ...claims,
    }
    const signed = await jwt.signOther(payload, typ)
    return {
      response: {
        issued_token_type: tokenType,
        access_token: signed,
        // RFC 8693 section 2.2.1: what was issued is not an access token.
        token_type: 'N_A',
        expires_in: lifetime,
        ...(scope !== '' && { scope }),
      },
      records: [],
      continued: undefined,
      successor: undefined,
      facts: observed
        ? [
            {
              type: 'token_issued',
              tokenType: 'assertion',
              grantType,
              scopes,
              audience,
              idp,
              ...(acr !== undefined && { acr }),
              fingerprint: fingerprintOf(runtime.sha256Hex(signed)),
              ...families.describe(result.lineage?.family),
            },
          ]
        : [],
    }
  }

/** Grants with scopes of another server, which return assertions. */
export const assertions: Capability = { kind: 'capability', '~kind': capabilityKind, name: 'assertions', open }

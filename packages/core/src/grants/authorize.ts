import * as v from 'valibot'
import { configurationObject, lifetimeSchema } from '../config-schema.ts'
import type { Client } from '../directory/client.ts'
import type { ClientDirectory } from '../directory/clients.ts'
import { isRegistered, redirectUriProblem } from '../directory/redirect-uri.ts'
import { redirectUriDetail } from '../directory/shown-uri.ts'
import { completeSubject } from '../directory/subject.ts'
import { decodeBase64url, hex } from '../encoding.ts'
import { OAuthError } from '../errors/oauth-error.ts'
import type { Recorder } from '../events/recorder.ts'
import type { Authorize, CheckAuthorization, NewGrant, ProposedGrant } from '../plugin/authorize.ts'
import { authorizationEntries, recordedAuthorization } from '../records/authorization.ts'
import { fingerprintOf, hashOf } from '../records/keys.ts'
import type { GrantRecord } from '../records/schemas.ts'
import type { Store } from '../records/store.ts'
import type { Registry } from '../registry/registry.ts'
import type { Runtime } from '../runtime.ts'
import type { Audiences } from '../tokens/audience.ts'
import { isIdentityProtocolClaim, isProtocolClaim } from '../tokens/claims.ts'
import { type Families, maxTokenLifetime } from '../tokens/family.ts'
import { assertNotRevoked, recordedEpochs } from '../tokens/revocation-epochs.ts'
import type { NewRevocationMark } from '../tokens/revocation-mark.ts'
import { grantKeyOf } from '../tokens/stored-grant.ts'
import type { JsonObject } from '../types.ts'
import type { ReadAuthorization } from './contributions.ts'
import { audienceNotAllowed } from './narrow.ts'
import { allowsRefreshToken, type ScopePolicy } from './scope-policy.ts'

const { redirectUri, scopes, demands, requestedClaims, ...decided } = authorizationEntries

const requestEntries = {
  kind: v.string(),
  clientId: v.string(),
  omitsRedirectUri: v.optional(v.boolean()),
  params: v.optional(v.record(v.string(), v.string())),
  confirmation: v.optional(v.record(v.string(), v.string())),
  redirectUri,
  scopes,
  demands,
  requestedClaims,
  nonce: v.optional(v.pipe(v.string(), v.maxLength(300))),
}

const grantEntries = {
  ...requestEntries,
  subject: decided.subject,
  claims: decided.claims,
  identityClaims: decided.identityClaims,
  since: v.optional(
    configurationObject({ subject: v.optional(v.nullable(v.string())), client: v.optional(v.nullable(v.string())) }),
  ),
  lifetime: v.optional(lifetimeSchema),
  // The base64url of a SHA-256.
  credentialHash: v.optional(v.pipe(v.string(), v.regex(/^[\w-]{42}[AEIMQUYcgkosw048]$/u))),
}

const suggestions = {
  codechallenge: 'params.code_challenge',
  codechallengemethod: 'params.code_challenge_method',
}

/** Two schemas: for a credential that is sent to a redirect URI, and for others. */
const schemasOf = <const E extends typeof requestEntries>(entries: E) => ({
  withRedirect: configurationObject({ ...entries, redirectUri: v.string() }, { suggestions }),
  withoutRedirect: configurationObject(entries, { suggestions }),
})
const requestSchemas = schemasOf(requestEntries)
const grantSchemas = schemasOf(grantEntries)

const refuse = (
  code: 'invalid_request' | 'unauthorized_client',
  text: string,
  reason: string,
  detail?: string,
): OAuthError => new OAuthError(code, text, { reason, detail })

/**
 * Describes the first mistake, for the developer of the login page. Contains no value, because the values come from a
 * browser.
 */
function describeProblem(issues: readonly [v.BaseIssue<unknown>, ...v.BaseIssue<unknown>[]]): string {
  // An unknown key first: it often explains why a required one is missing.
  const issue = issues.find(({ expected }) => expected === 'never') ?? issues[0]
  const isOurs = issue.expected === 'never' || issue.message === 'is required'
  return `${v.getDotPath(issue) ?? 'The authorization'} ${isOurs ? issue.message : 'is malformed'}`
}

export interface Authorizations {
  /** Validates an authorization request without storing anything. */
  readonly check: CheckAuthorization
  readonly authorize: Authorize
}

export function createAuthorizations(deps: {
  readonly issuer: string
  readonly registry: Registry
  readonly clients: ClientDirectory
  readonly scopePolicy: ScopePolicy
  readonly audiences: Audiences
  readonly readAuthorization: ReadAuthorization
  readonly store: Store
  readonly families: Families
  readonly newRevocationMark: NewRevocationMark
  readonly runtime: Runtime
  readonly recorder: Recorder
}): Authorizations {
  const { issuer, registry, clients, scopePolicy, audiences, readAuthorization, store, families } = deps
  const { newRevocationMark, runtime, recorder } = deps

  /** @throws TypeError (a defect in the caller) when no plugin redeems grants of this kind. */
  function redeemerOf(kind: unknown) {
    const grant = typeof kind === 'string' && kind !== 'refresh' ? registry.redeemerOf(kind) : undefined
    if (grant?.stored !== undefined) return { grantType: grant.grantType, stored: grant.stored }
    throw new TypeError(`authorize(): no plugin redeems stored grants of the kind ${String(kind)}`)
  }

  /**
   * Finds the client, and checks the redirect URI.
   *
   * @param problem the description of the mistake if `clientId` or `redirectUri` has the wrong type, which is a defect
   * in the login page.
   */
  async function clientOf(
    input: ProposedGrant,
    { grantType, stored }: ReturnType<typeof redeemerOf>,
    problem = '',
  ): Promise<Client> {
    const { clientId, redirectUri }: Readonly<Record<string, unknown>> = { ...input }
    if (typeof clientId !== 'string') throw refuse('invalid_request', problem, 'client_unknown')
    const client = await clients.find(clientId)
    if (!client?.enabled) throw refuse('unauthorized_client', 'The client is not known', 'client_unknown')
    if (stored.redirect === true || redirectUri !== undefined) {
      if (typeof redirectUri !== 'string') throw refuse('invalid_request', problem, 'redirect_uri_mismatch')
      if (!isRegistered(redirectUri, client.redirectUris)) {
        const why = redirectUriProblem(redirectUri) ?? 'is not registered'
        const detail = redirectUriDetail(redirectUri, client.redirectUris)
        throw refuse('invalid_request', `The redirect_uri ${why}`, 'redirect_uri_mismatch', detail)
      }
    }
    if (!client.grantTypes.includes(grantType)) {
      throw refuse('unauthorized_client', `The client is not allowed to use ${grantType}`, 'grant_type_not_allowed')
    }
    return client
  }

  /**
   * Validates a request. Checks the client and the redirect URI first, because they decide whether the login page may
   * redirect.
   */
  async function validate(
    input: ProposedGrant & Pick<NewGrant, 'lifetime'>,
    schemas: { readonly [Name in keyof typeof requestSchemas]: v.GenericSchema },
  ) {
    const redeemer = redeemerOf(input?.kind)
    const { grantType } = redeemer
    const schema = redeemer.stored.redirect === true ? schemas.withRedirect : schemas.withoutRedirect
    const parsed = v.safeParse(schema, input, { abortPipeEarly: true })
    const problem = parsed.success ? undefined : describeProblem(parsed.issues)
    const client = await clientOf(input, redeemer, problem)
    if (problem !== undefined) throw refuse('invalid_request', problem, 'malformed_code_request')
    const scopes = scopePolicy.authorized(input.scopes, client)
    const given = (input.demands ?? {}) as JsonObject
    const required = registry.requiredDemands(input.kind, client).filter((demand) => given[demand] === undefined)
    const { params = {}, confirmation: proved, lifetime = client.authorizationCodeLifetime } = input
    const read = await readAuthorization(grantType, { client, params, required, confirmation: proved, lifetime })
    const { audience, demands, confirmation } = read
    const missing = required.find((demand) => demands[demand] === undefined)
    if (missing !== undefined) {
      throw refuse('invalid_request', `The client requires ${missing}`, `${missing}_required`)
    }
    const allowed = audiences.listOf(scopes)
    if (audience?.every((one) => allowed.includes(one)) === false) throw audienceNotAllowed()
    const contributed = { audience, confirmation, demands: { ...given, ...demands } }
    return { client, grantType, scopes, lifetime, contributed }
  }

  const check: Authorizations['check'] = async (input) => {
    await validate(input, requestSchemas)
  }

  /** Stores the record of a new grant. A credential of the caller must be new. */
  async function storeNew(hash: string, record: GrantRecord, isGiven: boolean): Promise<void> {
    const key = grantKeyOf(record.kind, hash)
    if (!isGiven) await store.put(key, record, record.keptUntil)
    else if (!(await store.insert(key, record, record.keptUntil))) {
      throw refuse('invalid_request', 'The credential is already in use', 'credential_taken')
    }
  }

  const authorize: Authorize = async (input) => {
    const { client, grantType, scopes, lifetime, contributed } = await validate(input, grantSchemas)
    const { claims = {}, identityClaims = {} } = input
    if (Object.keys(claims).some(isProtocolClaim) || Object.keys(identityClaims).some(isIdentityProtocolClaim)) {
      throw refuse('invalid_request', 'A claim has a name that is reserved for the protocol', 'claim_reserved')
    }
    const { kind, credentialHash } = input
    const now = runtime.now()
    const subject = completeSubject(input.subject, now)
    const redeemableUntil = now + lifetime
    // Kept as long as tokens from this grant can be valid: a late replay is a sign of theft and revokes them.
    const longest = allowsRefreshToken(scopes) ? client.refreshToken.absoluteLifetime : 0
    const keptUntil = redeemableUntil + longest + maxTokenLifetime(client)
    const family = runtime.base64url(runtime.randomBytes(16))
    const { epochs, revision } = await newRevocationMark(client.clientId, subject.sub)
    assertNotRevoked(input.since, epochs)
    const record: GrantRecord = {
      kind,
      issuer,
      clientId: client.clientId,
      grantType,
      family,
      familyStartedAt: now,
      generation: 0,
      redeemableUntil,
      keptUntil,
      ...recordedEpochs(epochs),
      revision,
      ...recordedAuthorization({
        subject,
        scopes,
        audience: contributed.audience,
        claims: input.claims,
        identityClaims: input.identityClaims,
        requestedClaims: input.requestedClaims,
        nonce: input.nonce,
        redirectUri: input.omitsRedirectUri === true ? undefined : input.redirectUri,
        demands: contributed.demands,
        cnf: contributed.confirmation,
      }),
    }
    const credential = credentialHash ?? runtime.base64url(runtime.randomBytes(32))
    const given = credentialHash === undefined ? undefined : decodeBase64url(credentialHash)
    const hash = given === undefined ? hashOf(credential, runtime) : hex(given)
    await storeNew(hash, record, given !== undefined)
    const trace = recorder.start('authorize')
    trace.client = client
    trace.sub = subject.sub
    recorder.record(trace, {
      type: 'code_issued',
      ...(kind !== 'code' && { kind }),
      fingerprint: fingerprintOf(hash),
      ...families.describe(family),
    })
    return credential
  }

  return { check, authorize }
}

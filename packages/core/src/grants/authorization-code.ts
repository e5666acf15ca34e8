import * as v from 'valibot'
import { configurationObject } from '../config-schema.ts'
import type { Client } from '../directory/client.ts'
import type { ClientDirectory } from '../directory/clients.ts'
import { isRegistered, redirectUriProblem } from '../directory/redirect-uri.ts'
import { completeSubject, subjectSchema } from '../directory/subject.ts'
import type { Subject } from '../directory/user-service.ts'
import { OAuthError } from '../errors/oauth-error.ts'
import type { Recorder } from '../events/recorder.ts'
import { fingerprintOf, hashOf, keyOf } from '../records/keys.ts'
import { type GrantRecord, jsonObjectSchema } from '../records/schemas.ts'
import type { Store } from '../records/store.ts'
import type { Runtime } from '../runtime.ts'
import { isProtocolClaim } from '../tokens/claims.ts'
import { type Families, maxTokenLifetime } from '../tokens/family.ts'
import { recordedEpochs } from '../tokens/revocation-epochs.ts'
import type { NewRevocationMark } from '../tokens/revocation-mark.ts'
import type { Json, JsonObject } from '../types.ts'
import { allowsRefreshToken, type ScopePolicy } from './scope-policy.ts'

/** An authorization request, as the login page has parsed it. */
export interface AuthorizationRequest {
  readonly clientId: string
  /**
   * The `redirect_uri` of the request, unchanged. Must be one of the client's `redirectUris`; a loopback URI may have
   * another port (RFC 8252 section 7.3).
   */
  readonly redirectUri: string
  /** The scopes that the user consented to. Each must be allowed for the client. */
  readonly scopes: readonly string[]
  /** At most 300 characters; included in the identity token. */
  readonly nonce?: string | undefined
  /** RFC 7636 section 4.2. Required for a public client. */
  readonly codeChallenge?: string | undefined
  /** Default: `S256`. `plain` requires `allowPlainCodeChallenge` of the client. */
  readonly codeChallengeMethod?: 'S256' | 'plain' | undefined
}

/** An authorization request that the user has consented to. */
export interface NewAuthorizationCode extends AuthorizationRequest {
  readonly subject: Subject
  /** Additional claims of the access tokens. */
  readonly claims?: Readonly<Record<string, Json>> | undefined
}

/**
 * Validates an authorization request without storing anything. A login page calls it before it asks for a password.
 *
 * @throws OAuthError as `createAuthorizationCode` does, with the same rule for the redirect.
 */
export type CheckAuthorizationRequest = (request: AuthorizationRequest) => Promise<void>

/**
 * Validates an authorization request and creates a code, which the login page sends to the redirect URI. A code is
 * valid for 60 seconds by default, and for one use.
 *
 * @throws OAuthError with an error code for the redirect (RFC 6749 section 4.1.2.1): `unauthorized_client`,
 * `invalid_request` or `invalid_scope`. Do not redirect if `details.reason` is `client_unknown` or
 * `redirect_uri_mismatch`; these are checked before anything else.
 */
export type CreateAuthorizationCode = (code: NewAuthorizationCode) => Promise<string>

const requestSchema = configurationObject({
  clientId: v.string(),
  redirectUri: v.string(),
  scopes: v.array(v.string()),
  nonce: v.optional(v.pipe(v.string(), v.maxLength(300))),
  codeChallenge: v.optional(v.pipe(v.string(), v.regex(/^[A-Za-z0-9\-._~]{43,128}$/u))),
  codeChallengeMethod: v.optional(v.picklist(['S256', 'plain'])),
})

const newCodeSchema = configurationObject({
  ...requestSchema.entries,
  subject: subjectSchema,
  claims: v.optional(jsonObjectSchema),
})

const refuse = (code: 'invalid_request' | 'unauthorized_client', text: string, reason: string): OAuthError =>
  new OAuthError(code, text, { reason })

function demandsOf(code: AuthorizationRequest, client: Client): JsonObject | undefined {
  const { codeChallenge: challenge, codeChallengeMethod: method = 'S256' } = code
  if (challenge === undefined) {
    if (client.public)
      throw refuse('invalid_request', 'A public client requires a code_challenge', 'proof_key_required')
    if (code.codeChallengeMethod === undefined) return undefined
    throw refuse('invalid_request', 'code_challenge_method requires a code_challenge', 'challenge_missing')
  }
  if (method === 'plain' && !client.allowPlainCodeChallenge) {
    throw refuse('invalid_request', 'The code_challenge_method plain is not allowed', 'plain_not_allowed')
  }
  // RFC 7636 section 4.2: the base64url of a SHA-256 has exactly 43 characters.
  if (method === 'S256' && !/^[A-Za-z0-9_-]{43}$/u.test(challenge)) {
    throw refuse('invalid_request', 'The code_challenge is not an S256 challenge', 'challenge_malformed')
  }
  return { proof_key: { challenge, method } }
}

/**
 * Describes the first mistake, for the developer of the login page. Contains no value, because the values come from a
 * browser.
 */
function describeProblem(issues: readonly [v.BaseIssue<unknown>, ...v.BaseIssue<unknown>[]]): string {
  // An unknown key first: it often explains why a required one is missing.
  const issue = issues.find(({ expected }) => expected === 'never') ?? issues[0]
  const isOurs = issue.expected === 'never' || issue.message === 'is required'
  return `${v.getDotPath(issue) ?? 'The authorization code'} ${isOurs ? issue.message : 'is malformed'}`
}

export interface AuthorizationCodes {
  readonly check: CheckAuthorizationRequest
  readonly create: CreateAuthorizationCode
}

export function createAuthorizationCodes(deps: {
  readonly issuer: string
  readonly clients: ClientDirectory
  readonly scopePolicy: ScopePolicy
  readonly store: Store
  readonly families: Families
  readonly newRevocationMark: NewRevocationMark
  readonly runtime: Runtime
  readonly recorder: Recorder
}): AuthorizationCodes {
  const { issuer, clients, scopePolicy, store, families, newRevocationMark, runtime, recorder } = deps

  /**
   * @param problem the description of the mistake if `clientId` or `redirectUri` has the wrong type, which is a defect
   * in the login page.
   */
  async function clientOf(input: AuthorizationRequest, problem = ''): Promise<Client> {
    const { clientId, redirectUri }: Readonly<Record<string, unknown>> = { ...input }
    if (typeof clientId !== 'string') throw refuse('invalid_request', problem, 'client_unknown')
    const client = await clients.find(clientId)
    if (!client?.enabled) throw refuse('unauthorized_client', 'The client is not known', 'client_unknown')
    if (typeof redirectUri !== 'string') throw refuse('invalid_request', problem, 'redirect_uri_mismatch')
    if (!isRegistered(redirectUri, client.redirectUris)) {
      const why = redirectUriProblem(redirectUri) ?? 'is not registered'
      throw refuse('invalid_request', `The redirect_uri ${why}`, 'redirect_uri_mismatch')
    }
    if (!client.grantTypes.includes('authorization_code')) {
      throw refuse(
        'unauthorized_client',
        'The client is not allowed to use authorization codes',
        'grant_type_not_allowed',
      )
    }
    return client
  }

  /**
   * Validates a request. Checks the client and the redirect URI first, because they decide whether the login page may
   * redirect.
   */
  async function validate(
    input: AuthorizationRequest,
    schema: v.GenericSchema,
  ): Promise<{ client: Client; scopes: readonly string[]; demands: JsonObject | undefined }> {
    const parsed = v.safeParse(schema, input, { abortPipeEarly: true })
    const problem = parsed.success ? undefined : describeProblem(parsed.issues)
    const client = await clientOf(input, problem)
    if (problem !== undefined) throw refuse('invalid_request', problem, 'malformed_code_request')
    const scopes = scopePolicy.authorized(input.scopes, client)
    return { client, scopes, demands: demandsOf(input, client) }
  }

  const check: CheckAuthorizationRequest = async (input) => {
    await validate(input, requestSchema)
  }

  const create: CreateAuthorizationCode = async (input) => {
    const { client, scopes, demands } = await validate(input, newCodeSchema)
    if (Object.keys(input.claims ?? {}).some(isProtocolClaim)) {
      throw refuse('invalid_request', 'A claim has a name that is reserved for the protocol', 'claim_reserved')
    }
    const now = runtime.now()
    const subject = completeSubject(input.subject, now)
    const redeemableUntil = now + client.authorizationCodeLifetime
    // Kept as long as tokens from this code can be valid: a late replay is a sign of theft and revokes them.
    const longest = allowsRefreshToken(scopes) ? client.refreshToken.absoluteLifetime : 0
    const keptUntil = redeemableUntil + longest + maxTokenLifetime(client)
    const family = runtime.base64url(runtime.randomBytes(16))
    const { epochs, revision } = await newRevocationMark(client.clientId, subject.sub)
    const record: GrantRecord = {
      kind: 'code',
      issuer,
      clientId: client.clientId,
      grantType: 'authorization_code',
      subject: { ...subject, amr: [...subject.amr] },
      scopes: [...scopes],
      family,
      familyStartedAt: now,
      generation: 0,
      redeemableUntil,
      keptUntil,
      redirectUri: input.redirectUri,
      ...recordedEpochs(epochs),
      ...(revision !== undefined && { revision }),
      ...(input.nonce !== undefined && { nonce: input.nonce }),
      ...(input.claims !== undefined && { claims: input.claims }),
      ...(demands !== undefined && { demands }),
    }
    const code = runtime.base64url(runtime.randomBytes(32))
    const hash = hashOf(code, runtime)
    await store.put(keyOf('code', hash), record, keptUntil)
    const trace = recorder.start('createAuthorizationCode')
    trace.client = client
    trace.sub = subject.sub
    recorder.record(trace, { type: 'code_issued', fingerprint: fingerprintOf(hash), ...families.describe(family) })
    return code
  }

  return { check, create }
}

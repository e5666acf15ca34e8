import * as v from 'valibot'
import { configurationObject } from '../config-schema.ts'
import type { ClientDirectory } from '../directory/client-directory.ts'
import { completeSubject } from '../directory/user-service.ts'
import { OAuthError } from '../errors/oauth-error.ts'
import type { Recorder } from '../events/recorder.ts'
import type { ProvedEpochOf } from '../parts/authenticate-user.ts'
import type { Approval, Authorize, AuthorizedEpochs, OpenAuthorization, Proposal } from '../parts/proposal.ts'
import type { Registry } from '../parts/registry.ts'
import { isThenable } from '../promises.ts'
import { authorizationEntries, recordedAuthorization } from '../records/authorization.ts'
import { fingerprintOf } from '../records/keys.ts'
import type { GrantRecord } from '../records/schemas.ts'
import type { Store } from '../records/store.ts'
import { decodeBase64url, hex, type Runtime, randomId } from '../runtime.ts'
import { isIdentityProtocolClaim, isProtocolClaim } from '../tokens/claims.ts'
import { assertNotRevoked, recordedEpochs } from '../tokens/epochs.ts'
import type { IsUnchanged, NewRevocationMark } from '../tokens/revocation-mark.ts'
import { type Families, grantKeyOf, maxTokenLifetime } from '../tokens/stored-grant.ts'
import type { ReadAuthorization } from './contributions.ts'
import { assertAudience, createOpenRequest, describeProblem, type OpenRequest, refuse } from './open-authorization.ts'
import { allowsRefreshToken } from './scope-policy.ts'
import type { ScopeRules } from './scope-rules.ts'

/** Creates the schema of approvals. On demand, so that a bundler can drop it. */
const createApprovalSchema = () =>
  configurationObject({
    subject: authorizationEntries.subject,
    scopes: v.optional(authorizationEntries.scopes),
    claims: authorizationEntries.claims,
    identityClaims: authorizationEntries.identityClaims,
    subjectEpoch: v.optional(v.nullable(v.string())),
    clientEpoch: v.optional(v.nullable(v.string())),
    withdrawalEpoch: v.optional(v.nullable(v.string())),
    // The base64url of a SHA-256.
    credentialHash: v.optional(v.pipe(v.string(), v.regex(/^[\w-]{42}[AEIMQUYcgkosw048]$/u))),
  })

/** @throws OAuthError when it is malformed, or has a claim of the protocol. */
function checkedApproval(input: unknown, schema: ReturnType<typeof createApprovalSchema>): Approval {
  const parsed = v.safeParse(schema, input, { abortPipeEarly: true })
  if (!parsed.success) throw refuse('invalid_request', describeProblem(parsed.issues), 'malformed_approval')
  const approval = parsed.output as Approval
  const { claims = {}, identityClaims = {} } = approval
  if (Object.keys(claims).some(isProtocolClaim) || Object.keys(identityClaims).some(isIdentityProtocolClaim)) {
    throw refuse('invalid_request', 'A claim has a name that is reserved for the protocol', 'claim_reserved')
  }
  return approval
}

/** What a user has approved. */
type Approved = { readonly scopes: readonly string[]; readonly audience: readonly string[] | undefined }

/** Returns the scopes of an approval, and their audiences. They can only be fewer than those of the proposal. */
function narrowed(scopes: readonly string[] | undefined, open: OpenRequest): Approved {
  const { contributed, rules } = open
  if (scopes === undefined) return { scopes: open.scopes, audience: contributed.audience }
  const names = [...new Set(scopes)]
  if (names.length === 0) throw new OAuthError('invalid_scope', 'The scope is missing', { reason: 'scope_missing' })
  if (!names.every((name) => open.scopes.includes(name))) {
    throw new OAuthError('invalid_scope', 'The scope is not valid', { reason: 'scope_escalation' })
  }
  const allowed = rules.audiences.listOf(names)
  const audience = contributed.audience?.filter((api) => allowed.includes(api))
  // A user who allows nothing at one resource has still allowed something at another.
  assertAudience({ audience: audience?.length === 0 ? contributed.audience : audience }, names, rules.audiences)
  return { scopes: names, audience }
}

/** The state of a proposal: the checked request until the proposal is authorized, and the stored epochs afterwards. */
interface ProposalState {
  open: OpenRequest | undefined
  epochs: ReturnType<AuthorizedEpochs> | undefined
}

/** Keeps what was checked apart from the proposals, so that no caller can change it. */
function createProposals(runtime: Runtime) {
  const states = new WeakMap<Proposal, ProposalState>()
  return {
    create(open: OpenRequest): Proposal {
      const { client, request, scopes, rules, contributed } = open
      const proposal = Object.freeze({
        client,
        redirectUri: request.redirectUri,
        family: randomId(runtime, 16),
        scopes: Object.freeze([...scopes]),
        reach: Object.freeze(rules.audiences.reachOf(scopes, contributed.audience)),
        resources: Object.freeze(rules.audiences.resourcesOf(scopes, contributed.audience)),
        namesResources: contributed.audience !== undefined,
      })
      states.set(proposal as unknown as Proposal, { open, epochs: undefined })
      return proposal as unknown as Proposal
    },
    /** Returns what was checked, once. @throws TypeError (a defect in the caller) for anything else. */
    take(proposal: Proposal): { readonly open: OpenRequest; readonly state: ProposalState } {
      const state = states.get(proposal)
      const open = state?.open
      if (state === undefined || open === undefined) {
        throw new TypeError(
          'authorize(): pass the result of openAuthorization() of this provider, and each proposal once',
        )
      }
      state.open = undefined
      return { open, state }
    },
    epochsOf: (proposal: Proposal) => states.get(proposal)?.epochs,
  }
}

interface AuthorizeDeps {
  readonly issuer: string
  readonly store: Store
  readonly families: Families
  readonly newRevocationMark: NewRevocationMark
  readonly isUnchanged: IsUnchanged
  readonly provedEpochOf: ProvedEpochOf
  readonly runtime: Runtime
  readonly recorder: Recorder
}

/** Creates the function that stores what was authorized. */
function createStoreApproval(deps: AuthorizeDeps) {
  const { issuer, store, families, newRevocationMark, isUnchanged, runtime, recorder } = deps

  /** Stores the record of a new grant. A credential of the caller must be new. */
  async function storeNew(hash: string, record: GrantRecord, isGiven: boolean): Promise<void> {
    const key = grantKeyOf(record.kind, hash)
    if (!isGiven) await store.put(key, record, record.keptUntil)
    else if (!(await store.insert(key, record, record.keptUntil))) {
      throw refuse('invalid_request', 'The credential is already in use', 'credential_taken')
    }
  }

  async function recordOf(open: OpenRequest, family: string, approval: Approval): Promise<GrantRecord> {
    const { client, grantType, request, contributed } = open
    const { scopes, audience } = narrowed(approval.scopes, open)
    const now = runtime.now()
    const subject = completeSubject(approval.subject, now)
    const redeemableUntil = now + open.lifetime
    // Kept as long as tokens from this grant can be valid: a late replay is a sign of theft and revokes them.
    const longest = allowsRefreshToken(scopes) ? client.refreshToken.absoluteLifetime : 0
    const { epochs, revision, clientState } = await newRevocationMark(client.clientId, subject.sub)
    const { subjectEpoch, clientEpoch, withdrawalEpoch } = approval
    assertNotRevoked({ client: request.clientEpoch }, epochs)
    assertNotRevoked({ subject: subjectEpoch, client: clientEpoch, withdrawal: withdrawalEpoch }, epochs)
    const isSame = isUnchanged(client, clientState)
    if (!(isThenable(isSame) ? await isSame : isSame)) {
      throw new OAuthError('access_denied', 'The client has changed', { reason: 'client_changed' })
    }
    return {
      kind: request.kind,
      issuer,
      clientId: client.clientId,
      grantType,
      family,
      familyStartedAt: now,
      generation: 0,
      redeemableUntil,
      keptUntil: redeemableUntil + longest + maxTokenLifetime(client),
      revision,
      ...recordedEpochs(epochs),
      ...recordedAuthorization({
        subject,
        scopes,
        audience,
        claims: approval.claims,
        // The user approves for themselves: only a grant can let another party act.
        act: undefined,
        identityClaims: approval.identityClaims,
        requestedClaims: request.requestedClaims,
        nonce: request.nonce,
        redirectUri: request.omitsRedirectUri === true ? undefined : request.redirectUri,
        demands: contributed.demands,
        cnf: contributed.confirmation,
      }),
    }
  }

  return async (open: OpenRequest, newFamily: string, approval: Approval) => {
    const record = await recordOf(open, newFamily, approval)
    const { credentialHash } = approval
    const credential = credentialHash ?? randomId(runtime, 32)
    const hashBytes = credentialHash === undefined ? undefined : decodeBase64url(credentialHash)
    const hash = hashBytes === undefined ? runtime.sha256Hex(credential) : hex(hashBytes)
    await storeNew(hash, record, hashBytes !== undefined)
    const { kind, family, subject } = record
    const trace = recorder.start('authorize')
    trace.client = open.client
    trace.sub = subject.sub
    recorder.record(trace, {
      type: 'code_issued',
      ...(kind !== 'code' && { kind }),
      fingerprint: fingerprintOf(hash),
      ...families.describe(family),
    })
    return { credential, epochs: record.epochs ?? {} }
  }
}

export interface AuthorizationDeps extends AuthorizeDeps {
  readonly registry: Registry
  readonly clients: ClientDirectory
  readonly scopeRules: () => ScopeRules
  readonly readAuthorization: ReadAuthorization
}

export function createAuthorizations(deps: AuthorizationDeps): {
  readonly openAuthorization: OpenAuthorization
  readonly authorize: Authorize
  readonly authorizedEpochs: AuthorizedEpochs
} {
  const { clients, scopeRules, provedEpochOf } = deps
  const openRequest = createOpenRequest(deps)
  const storeApproval = createStoreApproval(deps)
  const proposals = createProposals(deps.runtime)
  const approvalSchema = createApprovalSchema()

  /** Checks a request again if its client or the scopes could have changed since, such as during a slow call of the host. */
  async function current(opened: OpenRequest): Promise<OpenRequest> {
    const { client, request, rules, scopes } = opened
    const currentClient = await clients.find(client.clientId, client)
    // With the scopes of the proposal: others have been shown to no user.
    return currentClient === client && rules === scopeRules()
      ? opened
      : openRequest({ ...request, scope: undefined, scopes }, currentClient)
  }

  return {
    openAuthorization: async (request, known) => proposals.create(await openRequest(request, known)),
    async authorize(proposal, input) {
      const { open, state } = proposals.take(proposal)
      const approval = checkedApproval(input, approvalSchema)
      // `provedEpochOf()` knows the object of the caller, not the copy that the check has made.
      const { subjectEpoch = provedEpochOf(input.subject) } = approval
      const approved = { ...approval, subjectEpoch }
      const { credential, epochs } = await storeApproval(await current(open), proposal.family, approved)
      state.epochs = epochs
      return credential
    },
    authorizedEpochs(proposal) {
      const epochs = proposals.epochsOf(proposal)
      if (epochs === undefined) throw new TypeError('authorizedEpochs(): authorize() has not stored this proposal')
      return epochs
    },
  }
}

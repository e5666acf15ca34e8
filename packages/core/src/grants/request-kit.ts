import type { Settlement } from '../abuse/settlement.ts'
import type { PasswordCheck } from '../credentials/password-check.ts'
import type { ClientDirectory } from '../directory/client-directory.ts'
import type { OAuthError } from '../errors/oauth-error.ts'
import type { Trace } from '../events/recorder.ts'
import type { AuthenticatedClient, Confirmation } from '../parts/grant.ts'
import type { GrantKit, Redemption } from '../parts/grant-kit.ts'
import { clientProblem, keyProblem } from '../parts/token-binding.ts'
import { foundAuthorization } from '../records/authorization.ts'
import type { AccessTokens } from '../tokens/access-token.ts'
import { familyIn, identityFamilyIn, withoutClientSub } from '../tokens/claims.ts'
import type { IdentityTokens } from '../tokens/identity-token.ts'
import type { CreateRequestMarks, RequestMarks } from '../tokens/revocation-mark.ts'
import type { StoredGrants } from '../tokens/stored-grant.ts'
import type { JsonObject } from '../types.ts'
import type { PluginKits } from './plugin-kit.ts'
import { lossOf } from './policy.ts'
import { createRedemption, withLineage } from './redemption.ts'

/** The kit of a grant for one request. */
export interface RequestKit {
  readonly kit: GrantKit
  /** The same kit for a grant check of another plugin, with that plugin's records. */
  kitFor(plugin: string): GrantKit
  /** The stored grants that the kit has returned to the grant. */
  readonly foundGrants: readonly Redemption[]
  /** The claims of the access tokens that the kit has validated. */
  readonly validatedTokens: readonly JsonObject[]
  /** Contains the mark of the user whom the kit has authenticated. */
  readonly marks: RequestMarks
  /**
   * The settlements of the passwords that the kit has checked, for the commit of the request. The token endpoint
   * settles those that the commit has not taken.
   */
  readonly unsettled: Settlement[]
}

/** A request for which a kit is created. */
interface KitRequest {
  /** The plugin of the grant. */
  readonly plugin: string
  readonly client: AuthenticatedClient
  /** The keys that the request has proved. */
  readonly confirmation: Confirmation | undefined
  /** Returns the refusal of the grant. */
  readonly refuse: (reason: string) => OAuthError
  readonly trace: Trace
}

export type CreateGrantKit = (request: KitRequest) => RequestKit

interface GrantKitDeps {
  readonly plugins: PluginKits
  readonly clients: ClientDirectory
  readonly storedGrants: StoredGrants
  readonly accessTokens: AccessTokens
  readonly identityTokens: IdentityTokens
  readonly checkPassword: PasswordCheck
  readonly createMarks: CreateRequestMarks
}

/** Creates `findGrant` for one request. It remembers what it finds. */
function createFindGrant(
  client: AuthenticatedClient,
  foundGrants: Redemption[],
  { clients, storedGrants }: Pick<GrantKitDeps, 'clients' | 'storedGrants'>,
): GrantKit['findGrant'] {
  return async (kind, credential) => {
    const stored = await storedGrants.redeemable(kind, credential, client.clientId)
    if (stored === undefined) return undefined
    const { record, hash, revision, clientState, spent } = stored
    if (clientProblem(record.clientId, client) !== undefined) {
      const owner = await clients.find(record.clientId)
      if (!owner?.enabled || lossOf(record, owner) !== undefined) return undefined
    }
    const details = { kind, hash, expiresAt: record.keptUntil, credential, record, revision, clientState, spent }
    const grant = createRedemption(details, { clientId: record.clientId, ...foundAuthorization(record) })
    foundGrants.push(grant)
    if (kind !== 'refresh') return grant
    return withLineage(grant, { family: record.family, expiresAt: record.redeemableUntil, stored: details })
  }
}

/** Creates `validateToken` for one request. It remembers what it has validated. */
function createValidateToken(
  assertKeys: GrantKit['assertKeys'],
  validatedTokens: JsonObject[],
  { accessTokens, identityTokens }: Pick<GrantKitDeps, 'accessTokens' | 'identityTokens'>,
): GrantKit['validateToken'] {
  return async (token, type) => {
    const access = type === 'access_token' ? await accessTokens.validate(token) : undefined
    const validation = access ?? (await identityTokens.validate(token))
    if (!validation.valid) return undefined
    const { client, claims } = validation
    // Otherwise, a stolen token could be exchanged for one that needs no key.
    if (access?.valid) assertKeys(access.confirmation)
    // Identity tokens have no `client_id`; with it, the new token inherits the epoch of the client from them too.
    validatedTokens.push({ ...claims, client_id: client.clientId })
    const family = access === undefined ? identityFamilyIn(claims) : familyIn(claims)
    const lineage = { family, expiresAt: Number(claims.exp) }
    const ofUser = withoutClientSub(claims)
    const hasClientSubject = ofUser !== claims
    return withLineage({ clientId: client.clientId, claims: ofUser, hasClientSubject }, lineage)
  }
}

export function createGrantKits(deps: GrantKitDeps): CreateGrantKit {
  const { plugins, checkPassword, createMarks } = deps

  return ({ plugin, client, confirmation, refuse: refuseGrant, trace }) => {
    const foundGrants: Redemption[] = []
    const validatedTokens: JsonObject[] = []
    const unsettled: Settlement[] = []
    const marks = createMarks(client.clientId)
    const findGrant = createFindGrant(client, foundGrants, deps)
    const assertNone = (problem: string | undefined): void => {
      if (problem !== undefined) throw refuseGrant(problem)
    }
    const assertClient: GrantKit['assertClient'] = (clientId) => assertNone(clientProblem(clientId, client))
    const assertKeys: GrantKit['assertKeys'] = (cnf) => assertNone(keyProblem(cnf, confirmation))
    const {
      issuer,
      tokenEndpoints,
      audienceOf,
      clientMetadata,
      signingAlgorithms,
      problemOfClient,
      now,
      sha256,
      equals,
      randomId,
      refuse,
      records,
      recordUser,
      recordClient,
      callHost,
      seal,
      unseal,
      sign,
      limitGuesses,
      redemption,
    } = plugins.grantKitOf(plugin)
    const kit: GrantKit = {
      issuer,
      tokenEndpoints,
      audienceOf,
      clientMetadata,
      signingAlgorithms,
      problemOfClient,
      now,
      sha256,
      equals,
      randomId,
      refuse,
      records,
      recordUser,
      recordClient,
      callHost,
      seal,
      unseal,
      sign,
      limitGuesses,
      redemption,
      findGrant,
      assertClient,
      assertKeys,
      authenticateUser: (credentials) =>
        checkPassword(credentials, client, trace, {
          readState: marks.readFor,
          confirmBy: marks.confirmBy,
          settleLater: (settlement) => unsettled.push(settlement),
        }),
      validateToken: createValidateToken(assertKeys, validatedTokens, deps),
    }
    return {
      kit,
      kitFor: (pluginName) => (pluginName === plugin ? kit : { ...kit, ...plugins.grantKitOf(pluginName) }),
      foundGrants,
      validatedTokens,
      marks,
      unsettled,
    }
  }
}

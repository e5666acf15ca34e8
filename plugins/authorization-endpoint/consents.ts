import { type Approval, type AuthorizedEpochs, type EndpointKit, type Proposal, parseUrl } from '@grantry/core'
import * as v from 'valibot'
import { areCurrent, carriedEpochEntries, carriedEpochs } from '../shared/carried-epochs.ts'
import { keptRecord } from '../shared/kept-record.ts'
import { type RecordSet, recordSet } from '../shared/record-set.ts'
import type { CheckedRequest } from './request.ts'

const schema = v.object({
  scopes: v.array(v.string()),
  claims: v.array(v.string()),
  /** For scopes that several APIs have: those that the user has consented to. */
  reach: v.optional(v.array(v.string()), []),
  /** Scopes that the user has left out when the client asked for them the last time. */
  declined: v.exactOptional(v.array(v.string())),
  /** Where the code of a client that has described itself goes to. */
  returnsTo: v.exactOptional(v.string()),
  /** Epoch seconds of the last consent. */
  at: v.optional(v.number(), 0),
  ...carriedEpochEntries,
})

type Epochs = ReturnType<AuthorizedEpochs>

/** What a user has consented to for a client. */
export interface GivenConsent {
  readonly clientId: string
  readonly scopes: readonly string[]
  /** Claims that the client has requested by their names. */
  readonly claims: readonly string[]
}

/** What users have consented to. */
export interface Consents {
  /**
   * Whether the user need not be asked: the user has consented to everything that the request asks for (if the client
   * has described itself, at the same host), there is no `prompt=consent`, and no other application could have sent
   * the request. Always true for clients with `requireConsent: false`.
   */
  suffice(kit: EndpointKit, sub: string, request: CheckedRequest): Promise<boolean>
  /**
   * Returns the epochs of the consent that has sufficed for a request, for `authorize`; an empty object if no consent
   * was needed.
   */
  recalled(sub: string, request: CheckedRequest): Pick<Approval, 'subjectEpoch' | 'clientEpoch' | 'withdrawalEpoch'>
  /** Returns the scopes that the user has left out when the client asked for them the last time. */
  declined(kit: EndpointKit, sub: string, clientId: string): Promise<readonly string[]>
  /**
   * Adds to what the user has consented to before, and removes what the user has left out.
   *
   * @param epochs those of the code (`kit.authorizedEpochs`): a revocation since ends the consent too
   */
  remember(
    kit: EndpointKit,
    sub: string,
    request: CheckedRequest,
    scopes: readonly string[],
    epochs: Epochs,
  ): Promise<void>
  /** What a user has consented to since the last revocation of the user or the client: for at most 100 clients. */
  list(kit: EndpointKit, sub: string): Promise<readonly GivenConsent[]>
  /** Forgets a consent, so that the user is asked again. Returns whether there was one. */
  revoke(kit: EndpointKit, sub: string, clientId: string): Promise<boolean>
  /** Removes what is stored of a user, also consents that a revocation has ended: for at most 100 clients. */
  forget(kit: EndpointKit, sub: string): Promise<void>
}

/** The names of the claims that the request asks for individually. */
export const requestedClaims = ({ claims }: CheckedRequest): readonly string[] => [
  ...new Set([...claims.userinfo, ...claims.identityToken].map(({ name }) => name)),
]

const keyOf = (sub: string, clientId: string): string => `consent:${JSON.stringify([sub, clientId])}`

/** The clients that a list shows. More are remembered, too. */
const maxListed = 100

const clientsOf = (kit: EndpointKit, sub: string): RecordSet =>
  recordSet(kit, `consents of ${sub}`, maxListed, keptRecord)

const union = (left: readonly string[], right: readonly string[]): string[] => [...new Set([...left, ...right])]
const without = (names: readonly string[], removed: readonly string[]): string[] =>
  names.filter((name) => !removed.includes(name))

/** Returns the part of a reach (`scope audience`) that belongs to some scopes. */
const reachWithin = (reach: readonly string[], scopes: readonly string[]): string[] =>
  reach.filter((pair) => scopes.includes(pair.split(' ', 1)[0] ?? ''))

/**
 * Whether another application could have sent the request: without a secret, only the host of an `https` redirect URI
 * proves which one receives the code. Any application of the device can use a private-use scheme or a port.
 *
 * @see RFC 6749 section 10.2; RFC 8252 section 8.6
 */
const isImpersonable = ({ client, redirectUri }: CheckedRequest): boolean =>
  client.public && !/^https:/iu.test(redirectUri)

/**
 * Returns where the code of a client that has described itself goes to. A consent is valid for this place only: a
 * stranger can register a client with the redirect URI of a known host beside another URI, or change the URI later.
 */
function returnsToOf({ client, redirectUri }: CheckedRequest): string | undefined {
  const url = client.selfDescribed === undefined ? undefined : parseUrl(redirectUri)
  // Programs on the device choose a free port.
  return url && `${url.protocol}//${url.protocol === 'https:' ? url.host : url.hostname}`
}

type ConsentRecord = v.InferOutput<typeof schema>

/** `null` is the epoch before any revocation. */
const approvalEpochs = ({ subject, client, withdrawal }: Epochs) => ({
  subjectEpoch: subject ?? null,
  clientEpoch: client ?? null,
  withdrawalEpoch: withdrawal ?? null,
})

/** Returns what the user has consented to since the last revocation of the user or the client, or of both. */
function currentOf(record: ConsentRecord | undefined, epochs: Epochs, kit: EndpointKit) {
  if (record === undefined || !areCurrent(record, epochs)) return undefined
  // Leaves out a scope that was removed and added again since: it is another scope.
  const scopes = kit.lastingScopes(record.scopes, record.at)
  return { ...record, scopes, reach: reachWithin(record.reach, scopes) }
}

async function readWithEpochs(kit: EndpointKit, sub: string, clientId: string) {
  const [record, epochs] = await Promise.all([
    kit.records.get(keyOf(sub, clientId), schema),
    kit.epochsOf(sub, clientId),
  ])
  return { epochs, consent: currentOf(record, epochs, kit) }
}

const read = async (kit: EndpointKit, sub: string, clientId: string) =>
  (await readWithEpochs(kit, sub, clientId)).consent

/** @param lifetime seconds after which the user is asked again */
export function createConsents(lifetime: number): Consents {
  /** The epochs of the consents that have sufficed, by request and user. */
  const recalled = new WeakMap<Proposal, Map<string, Epochs>>()

  return {
    async suffice(kit, sub, request) {
      if (request.client.requireConsent === false) return true
      if (request.prompts.has('consent') || request.client.selfDescribed === 'ask' || isImpersonable(request))
        return false
      const { consent, epochs } = await readWithEpochs(kit, sub, request.client.clientId)
      if (consent === undefined || consent.returnsTo !== returnsToOf(request)) return false
      const { scopes, claims, reach } = consent
      const suffices =
        request.scopes.every((scope) => scopes.includes(scope)) &&
        request.proposal.reach.every((pair) => reach.includes(pair)) &&
        requestedClaims(request).every((claim) => claims.includes(claim))
      if (suffices) recalled.set(request.proposal, new Map(recalled.get(request.proposal)).set(sub, epochs))
      return suffices
    },

    recalled(sub, { proposal }) {
      const epochs = recalled.get(proposal)?.get(sub)
      return epochs === undefined ? {} : approvalEpochs(epochs)
    },

    declined: async (kit, sub, clientId) => (await read(kit, sub, clientId))?.declined ?? [],

    async remember(kit, sub, request, granted, epochs) {
      const { clientId } = request.client
      const returnsTo = returnsToOf(request)
      const leftOut = without(request.scopes, granted)
      const expiresAt = kit.now() + lifetime
      // Comes before the consent, so that the list contains it if this process dies.
      await clientsOf(kit, sub).add(clientId, expiresAt)
      // Applied to what is stored then: a consent that is withdrawn meanwhile does not come back.
      await kit.records.update(keyOf(sub, clientId), schema, (record) => {
        const consented = currentOf(record, epochs, kit)
        const earlier = consented?.returnsTo === returnsTo ? consented : undefined
        const scopes = union(without(earlier?.scopes ?? [], leftOut), granted)
        const declined = union(without(earlier?.declined ?? [], request.scopes), leftOut)
        const value = {
          scopes,
          claims: union(earlier?.claims ?? [], requestedClaims(request)),
          reach: reachWithin(union(earlier?.reach ?? [], request.proposal.reach), scopes),
          ...(declined.length > 0 && { declined }),
          ...(returnsTo !== undefined && { returnsTo }),
          at: kit.now(),
          ...carriedEpochs(epochs),
        }
        return { value, expiresAt, ...keptRecord }
      })
    },

    async list(kit, sub) {
      const clientIds = await clientsOf(kit, sub).list()
      const consents = await Promise.all(
        clientIds.map(async (clientId) => ({ clientId, consent: await read(kit, sub, clientId) })),
      )
      return consents.flatMap(({ clientId, consent }) =>
        consent === undefined ? [] : [{ clientId, scopes: consent.scopes, claims: consent.claims }],
      )
    },

    async revoke(kit, sub, clientId) {
      const consent = await read(kit, sub, clientId)
      await kit.records.delete(keyOf(sub, clientId))
      await clientsOf(kit, sub).remove(clientId)
      return consent !== undefined
    },

    async forget(kit, sub) {
      const clients = clientsOf(kit, sub)
      const clientIds = await clients.list()
      // Comes before the list, so that no consent exists without an entry in the list.
      await Promise.all(clientIds.map((clientId) => kit.records.delete(keyOf(sub, clientId))))
      await clients.remove(...clientIds)
    },
  }
}

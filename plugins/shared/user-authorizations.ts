import type { AuthorizedEpochs, EndpointKit, Proposal } from '@grantry/core'
import { hostKey } from '@grantry/core'
import * as v from 'valibot'
import { areCurrent, carriedEpochEntries, carriedEpochs, withoutEpochs } from './carried-epochs.ts'
import { type RecordSet, recordSet } from './record-set.ts'

/** A user who lets an installation of a client have lasting access. */
export interface UserAuthorization {
  /** For `provider.revoke({ family })`, which ends this authorization only. */
  readonly family: string
  readonly clientId: string
  readonly scopes: readonly string[]
  /** The APIs that it is for, by the audiences of the scopes. */
  readonly audiences: readonly string[]
  /** Epoch seconds. */
  readonly startedAt: number
  /** When it ends at the latest (epoch seconds). */
  readonly expiresAt: number
}

/** What users have authorized on pages, and for devices: each sign-in of an installation is one. */
export interface UserAuthorizations {
  /**
   * The authorizations of a user with a refresh token that were not revoked: the newest 100. Those without one end with
   * their access token.
   */
  list(sub: string): Promise<readonly UserAuthorization[]>
  /** Removes the list of a user who was removed and revoked. */
  forget(sub: string): Promise<void>
}

/**
 * The key of the authorizations of users.
 *
 * @example
 * for (const { family } of await provider.use(userAuthorizations).list('alice')) await provider.revoke({ family })
 * // All of one client, also what the list does not show:
 * await provider.revoke({ subject: 'alice', clientId: 'web' })
 */
export const userAuthorizations = hostKey<UserAuthorizations>(
  'user-authorizations',
  'loginPage() or authorizationEndpoint()',
)

const text = v.string()
const schema = v.object({
  family: text,
  clientId: text,
  scopes: v.array(text),
  audiences: v.array(text),
  startedAt: v.number(),
  expiresAt: v.number(),
  ...carriedEpochEntries,
})
type Noted = v.InferOutput<typeof schema>

const maxListed = 100

const setOf = (kit: EndpointKit, sub: string): RecordSet => recordSet(kit, `authorizations of ${sub}`, maxListed)

/** A member of the set is a whole authorization, so that a list is one read. */
function notedIn(member: string): readonly (Noted & { readonly member: string })[] {
  const parsed = v.safeParse(v.pipe(text, v.parseJson(), schema), member)
  return parsed.success ? [{ ...parsed.output, member }] : []
}

const read = async (kit: EndpointKit, sub: string) =>
  (await setOf(kit, sub).list()).flatMap(notedIn).sort((left, right) => right.startedAt - left.startedAt)

interface NotedApproval {
  readonly sub: string
  readonly scopes: readonly string[]
  /** The epochs of what was authorized. */
  readonly epochs: ReturnType<AuthorizedEpochs>
}

const hasRefreshToken = ({ grantTypes }: Proposal['client'], scopes: readonly string[]): boolean =>
  scopes.includes('offline_access') && grantTypes.includes('refresh_token')

/** Adds what a user has authorized to the list, if the client gets a refresh token. The oldest one makes room. */
export async function noteAuthorization(
  kit: EndpointKit,
  { family, client, resources }: Proposal,
  { sub, scopes, epochs }: NotedApproval,
): Promise<void> {
  if (!hasRefreshToken(client, scopes)) return
  const { clientId, refreshToken } = client
  const startedAt = kit.now()
  const expiresAt = startedAt + refreshToken.absoluteLifetime
  const noted: Noted = {
    family,
    clientId,
    scopes: [...scopes],
    audiences: resources
      .filter((resource) => resource.scopes.some((name) => scopes.includes(name)))
      .map((resource) => resource.audience),
    startedAt,
    expiresAt,
    ...carriedEpochs(epochs),
  }
  await setOf(kit, sub).push(JSON.stringify(noted), expiresAt)
}

type Epochs = ReturnType<AuthorizedEpochs>

/**
 * An epoch that cannot be read is empty. Authorizations that seem to have ended because of it may be valid, so they are
 * not removed.
 */
const areReadable = ({ subject, client }: Epochs): boolean => subject !== '' && client !== ''

export const createUserAuthorizations = (kit: EndpointKit): UserAuthorizations => ({
  async list(sub) {
    const noted = await read(kit, sub)
    // Read after the list, so that an authorization that is newer than these epochs does not seem to have ended.
    const clientIds = [...new Set(noted.map(({ clientId }) => clientId))]
    const [revoked, ...epochs] = await Promise.all([
      kit.areRevoked(noted.map(({ family }) => family)),
      ...clientIds.map((clientId) => kit.epochsOf(sub, clientId)),
    ])
    const epochsOf = ({ clientId }: Noted): Epochs => epochs[clientIds.indexOf(clientId)] ?? {}
    const isLive = (authorization: Noted, index: number): boolean =>
      !revoked[index] && areCurrent(authorization, epochsOf(authorization))
    const isKnown = (authorization: Noted, index: number): boolean =>
      revoked[index] === true || areReadable(epochsOf(authorization))
    const ended = noted.filter((authorization, index) => !isLive(authorization, index) && isKnown(authorization, index))
    // Removes ended authorizations, which would displace others when the list is full. The write of a new authorization
    // cannot recognize them.
    if (ended.length > 0) await setOf(kit, sub).remove(...ended.map(({ member }) => member))
    return noted.filter(isLive).map(({ member: _member, ...shown }) => withoutEpochs(shown))
  },
  async forget(sub) {
    const set = setOf(kit, sub)
    await set.remove(...(await set.list()))
  },
})

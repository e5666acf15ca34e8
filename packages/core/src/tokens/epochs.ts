import { OAuthError } from '../errors/oauth-error.ts'
import { isString, isStrings } from '../json.ts'
import type { JsonObject } from '../types.ts'
import { userSubOf } from './claims.ts'

/** The epochs of a client, a subject, and what the subject lets the client have. Absent: before any revocation. */
export interface Epochs {
  readonly client?: string
  readonly subject?: string
  /** Changes when this subject withdraws the access of this client. */
  readonly withdrawal?: string
  /**
   * The origins of a token that came by exchange: one for each client whose access it was exchanged for (`originOf`).
   */
  readonly origins?: readonly string[]
}

/** The epochs that tokens are compared with. */
export interface CurrentEpochs {
  readonly epochs: Epochs
  /** The epochs of the withdrawals of the subject. Each begins with the name of its client, or `allOthers`. */
  readonly withdrawn?: readonly string[] | undefined
  /** Returns the epoch of a client in `origins`, by its key. */
  readonly epochAt: (key: string) => string | undefined
}

/** Stands for the clients that have no withdrawal of their own. */
export const allOthers = '*'

/** Returns the epoch of what a subject lets a client have, by the key of the epoch of the client. */
export function withdrawalOf(key: string, withdrawn: readonly string[] | undefined): string | undefined {
  if (withdrawn === undefined) return undefined
  const begunBy = (start: string) => withdrawn.find((epoch) => epoch.startsWith(start))
  return begunBy(nameOf(key)) ?? begunBy(allOthers)
}

/** The name of a client in the record of a subject: 64 bits of the hash in the key of its epoch. */
export const nameOf = (key: string): string => key.slice(-16)

/**
 * Returns the key of an origin. An origin is the access of a client from which another one has a token: the key of the epoch of
 * that client, the epoch of what its subject lets it have, and its own epoch.
 */
export const clientIn = (origin: string): string => origin.split(' ')[0] ?? ''

/** The epochs that a request or a decision carries: `null` before any revocation, `undefined` if it is not compared. */
type CarriedEpochs = { readonly [Kind in keyof typeof refusals]?: string | null | undefined }

const none: Epochs = Object.freeze({})

/** Returns a shared constant for the usual case without epochs. Other values than texts count as absent. */
export const epochsOf = (client: unknown, subject: unknown, withdrawal: unknown, origins?: unknown): Epochs =>
  (client ?? subject ?? withdrawal ?? origins) === undefined
    ? none
    : {
        ...(isString(client) && { client }),
        ...(isString(subject) && { subject }),
        ...(isString(withdrawal) && { withdrawal }),
        ...(isStrings(origins) && { origins }),
      }

export const epochsIn = ({
  client_epoch: client,
  sub_epoch: subject,
  withdrawal_epoch: withdrawal,
  origin_epochs: origins,
}: JsonObject): Epochs => epochsOf(client, subject, withdrawal, origins)

/** The epochs as token claims. Empty before any revocation, unless the token was exchanged for one of another client. */
export const epochClaims = ({ client, subject, withdrawal, origins }: Epochs): JsonObject => ({
  ...(client !== undefined && { client_epoch: client }),
  ...(subject !== undefined && { sub_epoch: subject }),
  ...(withdrawal !== undefined && { withdrawal_epoch: withdrawal }),
  ...(origins !== undefined && { origin_epochs: origins }),
})

/** The epochs as part of a grant record. Empty where there are none (`epochClaims`). */
export const recordedEpochs = (epochs: Epochs): { readonly epochs?: Epochs } =>
  Object.keys(epochs).length === 0 ? {} : { epochs }

/**
 * Returns the epochs of a token that a grant issues in exchange for others. It inherits them from the first presented
 * token of the same client and of the same subject, so that it counts as old even if it is issued during the
 * revocation. It ends with every other client that it came from, and with what its subject lets that client have.
 *
 * @param presented claims of the tokens that the grant has validated
 * @param keyOfClient returns the key of the epoch of a client
 */
export function inheritedEpochs(
  presented: readonly JsonObject[],
  clientId: string,
  sub: string | undefined,
  current: Epochs,
  keyOfClient: (clientId: string) => string,
): Epochs {
  const ofClient = presented.filter(({ client_id: clientOfToken }) => clientOfToken === clientId)
  const ofSubject = presented.filter((claims) => sub !== undefined && userSubOf(claims) === sub)
  const first = ([claims]: readonly JsonObject[]): Epochs => (claims ? epochsIn(claims) : current)
  const origins = presented.flatMap((claims) => {
    const { origins: earlier = [], withdrawal = '', client: epoch = '' } = epochsIn(claims)
    const ownOrigin = `${keyOfClient(String(claims.client_id))} ${withdrawal} ${epoch}`
    const all = ofClient.includes(claims) ? earlier : [...earlier, ownOrigin]
    // Nothing that the subject of the new token withdraws ends the access of another one.
    return ofSubject.includes(claims) ? all : all.map((origin) => origin.replace(/ [^ ]*/u, ' -'))
  })
  const { client } = first(ofClient)
  const { subject } = first(ofSubject)
  const { withdrawal } = first(ofSubject.filter((claims) => ofClient.includes(claims)))
  return epochsOf(client, subject, withdrawal, origins.length === 0 ? undefined : [...new Set(origins)])
}

const isOther = (carried: string | null | undefined, current: string | undefined): boolean =>
  current !== undefined && current !== carried

/**
 * Returns why a token or grant with these epochs is refused, or `undefined` if it is not. An expired epoch record
 * refuses nothing: all older tokens have expired.
 */
export function outdated(
  carried: Epochs,
  { epochs: current, withdrawn, epochAt }: CurrentEpochs,
): (typeof refusals)[keyof typeof refusals]['reason'] | undefined {
  if (isOther(carried.client, current.client)) return 'client_revoked'
  if (isOther(carried.subject, current.subject)) return 'subject_revoked'
  let isWithdrawn = isOther(carried.withdrawal, current.withdrawal)
  for (const origin of carried.origins ?? []) {
    const [key = '', withdrawal, client] = origin.split(' ')
    if (isOther(client, epochAt(key))) return 'client_revoked'
    if (withdrawal !== '-') isWithdrawn ||= isOther(withdrawal, withdrawalOf(key, withdrawn))
  }
  return isWithdrawn ? 'access_withdrawn' : undefined
}

const refusals = {
  subject: { reason: 'subject_revoked', code: 'login_required', message: 'The user must sign in again' },
  client: { reason: 'client_revoked', code: 'access_denied', message: 'The client was revoked' },
  withdrawal: { reason: 'access_withdrawn', code: 'consent_required', message: 'The user must consent again' },
} as const

/**
 * Refuses a new grant whose user or client was revoked since, or that a consent has decided which was withdrawn since. The
 * grant must carry `current`: a later revocation reaches the grant itself.
 *
 * @throws OAuthError `login_required`, `access_denied` or `consent_required`.
 */
export function assertNotRevoked(carried: CarriedEpochs, current: Epochs): void {
  for (const kind of ['subject', 'client', 'withdrawal'] as const) {
    const epoch = carried[kind]
    const { reason, code, message } = refusals[kind]
    if (epoch !== undefined && isOther(epoch, current[kind])) throw new OAuthError(code, message, { reason })
  }
}

import { OAuthError } from '../errors/oauth-error.ts'
import { isString } from '../json.ts'
import type { JsonObject } from '../types.ts'
import { userSubOf } from './claims.ts'

/** The epochs of a client, a subject, and what the subject lets the client have. Absent: before any revocation. */
export interface Epochs {
  readonly client?: string
  readonly subject?: string
  /** It changes when this subject withdraws the access of this client. */
  readonly withdrawal?: string
}

/** The epochs that a request or a decision carries: `null` before any revocation, `undefined` if it is not compared. */
type CarriedEpochs = { readonly [Kind in keyof Epochs]: string | null | undefined }

const none: Epochs = Object.freeze({})

/** Returns a shared constant for the usual case without epochs. Other values than texts count as absent. */
export const epochsOf = (client: unknown, subject: unknown, withdrawal: unknown): Epochs =>
  (client ?? subject ?? withdrawal) === undefined
    ? none
    : {
        ...(isString(client) && { client }),
        ...(isString(subject) && { subject }),
        ...(isString(withdrawal) && { withdrawal }),
      }

export const epochsIn = ({
  client_epoch: client,
  sub_epoch: subject,
  withdrawal_epoch: withdrawal,
}: JsonObject): Epochs => epochsOf(client, subject, withdrawal)

/** The epochs as token claims. Empty before any revocation, which is the usual case. */
export const epochClaims = ({ client, subject, withdrawal }: Epochs): JsonObject => ({
  ...(client !== undefined && { client_epoch: client }),
  ...(subject !== undefined && { sub_epoch: subject }),
  ...(withdrawal !== undefined && { withdrawal_epoch: withdrawal }),
})

/** The epochs as part of a grant record. Empty before any revocation. */
export const recordedEpochs = (epochs: Epochs): { readonly epochs?: Epochs } =>
  Object.keys(epochs).length === 0 ? {} : { epochs }

/**
 * Returns the epochs of a token that a grant issues in exchange for others. It inherits them from the first presented
 * token of the same client and of the same subject, so that it counts as old even if it is issued during the
 * revocation.
 *
 * @param presented claims of the tokens that the grant has validated
 */
export function inheritedEpochs(
  presented: readonly JsonObject[],
  clientId: string,
  sub: string | undefined,
  current: Epochs,
): Epochs {
  const ofClient = presented.filter(({ client_id: clientOfToken }) => clientOfToken === clientId)
  const ofSubject = presented.filter((claims) => sub !== undefined && userSubOf(claims) === sub)
  const ofBoth = ofClient.filter((claims) => ofSubject.includes(claims))
  const [client, subject, both] = [ofClient, ofSubject, ofBoth].map(([first]) => (first ? epochsIn(first) : current))
  return epochsOf(client?.client, subject?.subject, both?.withdrawal)
}

const isOther = (carried: string | null | undefined, current: string | undefined): boolean =>
  current !== undefined && current !== carried

/**
 * Returns why a token or grant with these epochs is refused, or `undefined` if it is not. An expired epoch record
 * refuses nothing: all older tokens have expired.
 */
export function outdated(carried: Epochs, current: Epochs): (typeof refusals)[keyof Epochs][0] | undefined {
  if (isOther(carried.client, current.client)) return 'client_revoked'
  if (isOther(carried.subject, current.subject)) return 'subject_revoked'
  return isOther(carried.withdrawal, current.withdrawal) ? 'access_withdrawn' : undefined
}

const refusals = {
  subject: ['subject_revoked', 'login_required', 'The user must sign in again'],
  client: ['client_revoked', 'access_denied', 'The client was revoked'],
  withdrawal: ['access_withdrawn', 'consent_required', 'The user must consent again'],
} as const

/**
 * Refuses a new grant whose user or client was revoked since, or that a consent has decided which was withdrawn since. The
 * grant must carry `current`: a later revocation reaches the grant itself.
 *
 * @throws OAuthError `login_required`, `access_denied` or `consent_required`.
 */
export function assertNotRevoked(carried: CarriedEpochs, current: Epochs): void {
  for (const [kind, [reason, code, message]] of Object.entries(refusals)) {
    const epoch = carried[kind as keyof Epochs]
    if (epoch !== undefined && isOther(epoch, current[kind as keyof Epochs]))
      throw new OAuthError(code, message, { reason })
  }
}

import type { Client } from '../directory/client.ts'
import { isOAuthError } from '../errors/oauth-error.ts'
import { isThenable } from '../promises.ts'
import type { GrantRecord } from '../records/schemas.ts'
import { epochClaims, inheritedEpochs } from '../tokens/epochs.ts'
import type { RevocationEpochs } from '../tokens/revocation-epochs.ts'
import { assertUnchanged, type IsUnchanged, type RequestMarks, type RevocationMark } from '../tokens/revocation-mark.ts'
import type { JsonObject, MaybePromise } from '../types.ts'
import type { CheckedResult } from './result.ts'

export interface MarkDeps {
  /** The clients of a list, which never change. */
  readonly listed: ReadonlySet<Client>
  readonly isUnchanged: IsUnchanged
  readonly revocationEpochs: Pick<RevocationEpochs, 'keyOfClient'>
}

/** What the mark of tokens depends on, besides their user. */
export interface MarkRequest {
  readonly result: CheckedResult
  readonly client: Client
  /** The claims of the access tokens that the grant has validated. */
  readonly validatedTokens: readonly JsonObject[]
  readonly marks: RequestMarks
}

/** The claims of a stored refresh token from which tokens inherit their epochs. */
const epochSourceOf = ({ clientId, subject, epochs = {} }: GrantRecord): JsonObject => ({
  client_id: clientId,
  sub: subject.sub,
  auth_time: subject.authTime,
  ...epochClaims(epochs),
})

/**
 * Returns the mark of a new authorization. If the storage is unavailable, a self-contained token without a user is
 * issued without a mark; it is then refused if the client was ever revoked. A token with a user always needs a mark,
 * which shows that the password was changed. So does a token of a client that can change: only the mark shows that
 * its secret was rotated.
 */
function newMark(
  { marks, client }: MarkRequest,
  sub: string | undefined,
  selfContained: boolean,
  listed: MarkDeps['listed'],
): MaybePromise<RevocationMark> {
  const mark = marks.newMark(sub)
  if (!isThenable(mark) || !selfContained || sub !== undefined) return mark
  return mark.catch((error) => {
    if (isOAuthError(error) && listed.has(client)) return { epochs: {}, revision: undefined }
    throw error
  })
}

/**
 * Returns the mark of new tokens, so that a revocation reaches them even if it happens while they are issued.
 *
 * @throws OAuthError `invalid_client` if the client was changed, and this request was decided by what it was before.
 */
export async function revocationMark(
  request: MarkRequest,
  sub: string | undefined,
  selfContained: boolean,
  { isUnchanged, listed, revocationEpochs: { keyOfClient } }: MarkDeps,
): Promise<RevocationMark> {
  const { stored, lineage } = request.result
  const { client, validatedTokens } = request
  const { clientId } = client
  const record = stored?.record
  // The epochs of the stored grant: a token from an old grant counts as old.
  const mark: RevocationMark =
    record === undefined
      ? await newMark(request, sub, selfContained, listed)
      : { epochs: record.epochs ?? {}, revision: stored?.revision, clientState: stored?.clientState }
  const unchanged = assertUnchanged(isUnchanged, client, mark.clientState)
  if (isThenable(unchanged)) await unchanged
  if (record !== undefined) return mark
  const source = lineage?.stored
  const presented = source === undefined ? validatedTokens : [epochSourceOf(source.record), ...validatedTokens]
  if (presented.length === 0) return mark
  // No revision: the presented tokens may have been revoked since they were validated.
  return { epochs: inheritedEpochs(presented, clientId, sub, mark.epochs, keyOfClient), revision: undefined }
}

import type { AuthorizedEpochs } from '@grantry/core'
import * as v from 'valibot'

type Epochs = ReturnType<AuthorizedEpochs>

const epoch = v.exactOptional(v.string())

/** The epochs in each record about an authorization: a revocation of any of the three ends the record. */
export const carriedEpochEntries = {
  /** The epoch of the user: a thief of the password could have decided before a revocation. */
  epoch,
  /** The epoch of the client: another application can get the id of a removed client. */
  clientEpoch: epoch,
  /** The epoch of the access: the user can withdraw it while a request is in progress. */
  withdrawal: epoch,
}

type CarriedEpochs = { readonly [Name in keyof typeof carriedEpochEntries]?: string }

/** Returns epochs as they are stored. */
export const carriedEpochs = ({ subject, client, withdrawal }: Epochs): CarriedEpochs => ({
  ...(subject !== undefined && { epoch: subject }),
  ...(client !== undefined && { clientEpoch: client }),
  ...(withdrawal !== undefined && { withdrawal }),
})

/** Returns a value without the epochs that it carries. */
export const withoutEpochs = <T extends CarriedEpochs>({
  epoch: _epoch,
  clientEpoch: _client,
  withdrawal: _,
  ...value
}: T) => value

/**
 * Whether nothing was revoked since. An epoch that is no longer stored revokes nothing: all older records have expired.
 */
export const areCurrent = (carried: CarriedEpochs, { subject, client, withdrawal }: Epochs): boolean =>
  (subject === undefined || subject === carried.epoch) &&
  (client === undefined || client === carried.clientEpoch) &&
  (withdrawal === undefined || withdrawal === carried.withdrawal)

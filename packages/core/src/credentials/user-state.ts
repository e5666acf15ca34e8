import { after, isThenable } from '../promises.ts'
import { clockDifference, type Runtime } from '../runtime.ts'
import type { DatedEpoch } from '../tokens/revocation-epochs.ts'
import type { MaybePromise } from '../types.ts'

/**
 * Reads the state of a user that a revocation changes. Returns when it has changed last (epoch seconds, by the clock of any
 * server), if that is known.
 */
export type ReadState = (sub: string) => MaybePromise<number | undefined>

/** Reads the epoch of a user, and when it began. */
export type EpochOf = (sub: string) => MaybePromise<DatedEpoch>

/** The state of the user of an attempt. */
export interface UserState {
  /** Resolves when the state of the expected user is read. Check the password afterwards. Never rejects. */
  readonly isReadForExpected: MaybePromise<unknown>
  /** Begins to read the state of a user whose password was right, unless it was read before. */
  found(sub: string): void
  /**
   * Whether the password was right when the state was read. If the last revocation is older than the attempt, this is
   * certain. Otherwise, reads the state again and checks the password once more.
   */
  confirmed(sub: string, confirm: (sub: string) => Promise<boolean>): Promise<boolean>
}

/** A state that cannot be read is reported where it is used. */
const ignoreFailure = <T>(read: MaybePromise<T>): MaybePromise<T | undefined> =>
  isThenable(read) ? read.catch(() => undefined) : read

/**
 * Orders the read of the user's state and the check of the password: tokens that an old password has authorized must
 * not carry the state from after its change.
 *
 * @param expected the user of the last login under the same name, if the process remembers it
 * @see docs/decisions/0022-revocation-by-epochs.md
 */
export function userState(
  readState: ReadState = () => undefined,
  expected: string | undefined,
  { now }: Pick<Runtime, 'now'>,
): UserState {
  const startedAt = now()
  const isReadForExpected = expected === undefined ? undefined : ignoreFailure(readState(expected))
  let since: MaybePromise<number | undefined>
  return {
    isReadForExpected,
    found(sub) {
      if (sub !== expected) since = ignoreFailure(readState(sub))
    },
    async confirmed(sub, confirm) {
      const changedAt = await since
      if (changedAt === undefined || changedAt < startedAt - clockDifference) return true
      await ignoreFailure(after(readState(sub), () => undefined))
      return confirm(sub)
    },
  }
}

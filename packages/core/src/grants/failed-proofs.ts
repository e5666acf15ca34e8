import { createBoundedMap } from '../bounded-map.ts'
import type { Client } from '../directory/client.ts'
import type { Recorder, Trace } from '../events/recorder.ts'
import { clientProblem } from '../parts/token-binding.ts'
import { fingerprintOf, keyOf, spentKeyOf } from '../records/keys.ts'
import type { SpentRecord } from '../records/schemas.ts'
import type { Store } from '../records/store.ts'
import type { Runtime } from '../runtime.ts'
import type { Families } from '../tokens/stored-grant.ts'
import type { CredentialDetails } from './redemption.ts'

/**
 * Counts the failed proofs of each stored grant, exactly and across processes, and ends the grant at the tenth. The end
 * is the same marker as that of a spent credential, which a redemption reads anyway.
 *
 * @see wire contract, section 3; docs/decisions/0029-ten-failed-proofs-end-a-code.md
 */
export interface FailedProofs {
  /**
   * Counts a failed proof of an unspent grant of this client. Does nothing for refresh tokens, for grants of other
   * clients, and for spent ones.
   *
   * @throws OAuthError `temporarily_unavailable` when it cannot be counted.
   */
  record(stored: CredentialDetails, client: Client, trace: Trace): Promise<void>
}

/** The number of failures that ends a grant. */
const maxFailures = 10

/** The maximum number of grants whose uncounted failures a process remembers. */
const maxCodes = 1000

/** Seconds by which a count outlives its grant, to allow for clock skew between servers. */
const margin = 60

export function createFailedProofs(deps: {
  readonly store: Store
  readonly families: Families
  readonly runtime: Runtime
  readonly recorder: Recorder
}): FailedProofs {
  const { store, families, runtime, recorder } = deps

  /** By the hash of the credential: failures that the storage could not count. They count in this process. */
  const uncounted = createBoundedMap<number>(maxCodes)
  const countKey = (hash: string): string => keyOf('count', runtime.sha256Hex(JSON.stringify(['code_proof', hash])))

  async function end({ kind, hash, expiresAt, record }: CredentialDetails, trace: Trace): Promise<void> {
    const marker: SpentRecord = { spentAt: runtime.now(), attempt: '', ended: true }
    const isNew = await store.insert(spentKeyOf(kind, hash), marker, expiresAt)
    if (!isNew) return
    recorder.record(trace, {
      type: 'code_ended',
      ...(kind !== 'code' && { kind }),
      fingerprint: fingerprintOf(hash),
      ...families.describe(record?.family),
    })
  }

  return {
    async record(stored, client, trace) {
      const { kind, hash, record, spent } = stored
      if (kind === 'refresh' || record === undefined || spent !== undefined) return
      if (clientProblem(record.clientId, client) !== undefined) return
      let counted: number
      try {
        counted = await store.increment(countKey(hash), record.redeemableUntil + margin)
      } catch (error) {
        const failures = (uncounted.get(hash) ?? 0) + 1
        uncounted.set(hash, failures)
        // Otherwise every guess would be free while only the counter fails.
        if (failures >= maxFailures) await end(stored, trace)
        throw error
      }
      // Also after the last one: the process that counted it may have ended before it wrote the marker.
      if (counted + (uncounted.get(hash) ?? 0) >= maxFailures) await end(stored, trace)
    },
  }
}

import type { Client } from '../directory/client.ts'
import type { Recorder, Trace } from '../events/trace.ts'
import type { RedemptionFacts } from '../plugin/redemption.ts'
import { fingerprintOf, hashOf, keyOf } from '../records/keys.ts'
import type { SpentRecord } from '../records/records.ts'
import type { Store } from '../records/store.ts'
import type { Runtime } from '../runtime.ts'
import type { Families } from './family.ts'
import { spentKeyOf } from './stored-grant.ts'

/**
 * Counts the failed proofs of each authorization code, exactly and across processes, and ends the code at the tenth. An
 * ended code gets the marker of a spent code, so a successful redemption costs no additional read.
 *
 * @see wire contract, section 3; docs/decisions/0029-ten-failed-proofs-end-a-code.md
 */
export interface FailedProofs {
  /**
   * Counts a failed proof. Ignores other credentials than codes, codes of other clients, and spent codes.
   *
   * @throws OAuthError `temporarily_unavailable` when it cannot be counted.
   */
  record(stored: RedemptionFacts, client: Client, trace: Trace): Promise<void>
}

/** The number of failures after which the next one ends the code. */
const forgiven = 9

/** Seconds by which a count outlives its code, to allow for clock skew between servers. */
const margin = 60

export function createFailedProofs(deps: {
  readonly store: Store
  readonly families: Families
  readonly runtime: Runtime
  readonly recorder: Recorder
}): FailedProofs {
  const { store, families, runtime, recorder } = deps

  const slotKey = (hash: string, slot: number): string =>
    keyOf('failure', hashOf(JSON.stringify(['code_proof', hash, slot]), runtime))

  return {
    async record({ kind, hash, expiresAt, record, spent }, client, trace) {
      if (kind !== 'code' || record === undefined || record.clientId !== client.clientId || spent !== undefined) return
      // Each failure takes the first free slot, so the one that finds none is the tenth, whichever process handles it.
      for (let slot = 0; slot < forgiven; slot += 1) {
        if (await store.insert(slotKey(hash, slot), {}, record.redeemableUntil + margin)) return
      }
      const marker: SpentRecord = { spentAt: runtime.now(), attempt: '', ended: true }
      const isNew = await store.insert(spentKeyOf('code', hash), marker, expiresAt)
      if (!isNew) return
      recorder.record(trace, {
        type: 'code_ended',
        fingerprint: fingerprintOf(hash),
        ...families.named(record.family),
      })
    },
  }
}

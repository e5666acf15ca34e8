import type { Client } from '../directory/client.ts'
import type { Recorder, Trace } from '../events/trace.ts'
import { hashOf, keyOf } from '../records/keys.ts'
import type { GrantRecord, RevokedRecord } from '../records/records.ts'
import type { Store } from '../records/store.ts'
import type { Runtime } from '../runtime.ts'

/** All tokens of one authorization. One record revokes them, those also that are being issued at this instant. */
export interface Families {
  isRevoked(family: string): Promise<boolean>
  /** Ends the family that a code or refresh token of this client belongs to. */
  revoke(record: GrantRecord, client: Client, reason: string, trace: Trace): Promise<void>
}

/** Seconds that the record outlives the last token, for clocks that differ. */
const margin = 86_400

export function createFamilies(deps: {
  readonly store: Store
  readonly runtime: Runtime
  readonly recorder: Recorder
}): Families {
  const { store, runtime, recorder } = deps
  const keyOfFamily = (family: string): string => keyOf('revoked', hashOf(family, runtime))
  return {
    isRevoked: (family) => store.has(keyOfFamily(family)),
    async revoke({ family, keptUntil }, client, reason, trace) {
      const now = runtime.now()
      const revoked: RevokedRecord = { revokedAt: now, reason }
      // A token that is being issued at this instant lives as long as one can.
      const lastEnd = Math.max(keptUntil, now + client.accessTokenLifetime)
      await store.put(keyOfFamily(family), revoked, lastEnd + margin)
      recorder.record(trace, { type: 'family_revoked', reason })
    },
  }
}

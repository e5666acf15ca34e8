import type { Client } from '../directory/client.ts'
import type { Recorder, Trace } from '../events/trace.ts'
import { hashOf, keyOf } from '../records/keys.ts'
import type { GrantRecord, RevokedRecord } from '../records/records.ts'
import type { Store } from '../records/store.ts'
import type { Runtime } from '../runtime.ts'

/** All tokens of one authorization. One record revokes them, those also that are being issued at this instant. */
export interface Families {
  isRevoked(family: string): Promise<boolean>
  revoke(record: GrantRecord, client: Client, reason: string, trace: Trace): Promise<void>
}

/** Seconds that the record outlives the last token, for clocks that differ and lifetimes that were shortened since. */
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
    async revoke(record, client, reason, trace) {
      const now = runtime.now()
      const lastRefreshToken = record.familyStartedAt + client.refreshToken.absoluteLifetime
      const expiresAt = Math.max(lastRefreshToken, now) + client.accessTokenLifetime + margin
      const revoked: RevokedRecord = { revokedAt: now, reason }
      await store.put(keyOfFamily(record.family), revoked, expiresAt)
      recorder.record(trace, { type: 'family_revoked', reason })
    },
  }
}

import { longestLifetime } from '../configuration.ts'
import type { Client } from '../directory/client.ts'
import type { Recorder, Trace } from '../events/trace.ts'
import type { MaybePromise } from '../json.ts'
import { fingerprintOf, hashOf, keyOf } from '../records/keys.ts'
import type { GrantRecord, RevokedRecord } from '../records/records.ts'
import type { Store } from '../records/store.ts'
import type { Runtime } from '../runtime.ts'

/** All tokens of one authorization. One record revokes them, those also that are being issued at this instant. */
export interface Families {
  /** The family as events name it; nothing where there is none, or nobody observes. */
  named(family: string | undefined): { readonly family?: string }
  isRevoked(family: string): MaybePromise<boolean>
  /** Ends the family that a code or refresh token of this client belongs to. Resolves only when that is as safe as the store can make it. */
  revoke(record: GrantRecord, client: Client, reason: string, trace: Trace): Promise<void>
  /** Ends a family of which only its name is known, for as long as any token could live. */
  revokeByName(family: string, reason: string, trace: Trace): Promise<void>
  /** For a family that was found to be revoked: whoever revoked it may have failed before its mark was safe from a crash of the store. */
  confirm(record: GrantRecord): Promise<void>
}

/** Seconds for which the last tokens of a family of this client can live. */
export const longestTokenLifetime = ({ accessTokenLifetime, identityTokenLifetime }: Client): number =>
  Math.max(accessTokenLifetime, identityTokenLifetime)

/** Seconds that the record outlives the last token, for clocks that differ. */
const margin = 86_400

export function createFamilies(deps: {
  readonly store: Store
  readonly runtime: Runtime
  readonly recorder: Recorder
}): Families {
  const { store, runtime, recorder } = deps
  const named = (family: string | undefined): { readonly family?: string } =>
    family === undefined || !recorder.observed ? {} : { family: fingerprintOf(hashOf(family, runtime)) }
  const keyOfFamily = (family: string): string => keyOf('revoked', hashOf(family, runtime))

  /** Whether this call made the mark. */
  function mark(family: string, lastEnd: number, reason: string): MaybePromise<boolean> {
    const revoked: RevokedRecord = { revokedAt: runtime.now(), reason }
    return store.insert(keyOfFamily(family), revoked, lastEnd + margin)
  }

  async function end(family: string, lastEnd: number, reason: string, trace: Trace): Promise<void> {
    const isNew = await mark(family, lastEnd, reason)
    if (isNew) recorder.record(trace, { type: 'family_revoked', reason, ...named(family) })
  }

  return {
    named,
    isRevoked: (family) => store.has(keyOfFamily(family)),
    async revoke({ family, keptUntil }, client, reason, trace) {
      // A successor that was issued since, or is at this instant, may live longer than this record knew: lifetimes get lengthened.
      const { absoluteLifetime } = client.refreshToken
      const lastEnd = Math.max(keptUntil, runtime.now() + absoluteLifetime + longestTokenLifetime(client))
      await end(family, lastEnd, reason, trace)
    },
    revokeByName: (family, reason, trace) => end(family, runtime.now() + longestLifetime, reason, trace),
    async confirm({ family, keptUntil }) {
      await mark(family, Math.max(keptUntil, runtime.now()), 'confirmed')
    },
  }
}

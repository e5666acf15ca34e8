import { createBoundedMap } from '../bounded-map.ts'
import { maxLifetime } from '../config-schema.ts'
import type { Client } from '../directory/client.ts'
import type { Recorder, Trace } from '../events/recorder.ts'
import { existenceAt, type Lookup } from '../records/envelope.ts'
import { fingerprintOf, hashOf, keyOf } from '../records/keys.ts'
import type { GrantRecord, RevokedRecord } from '../records/schemas.ts'
import type { Store } from '../records/store.ts'
import type { Runtime } from '../runtime.ts'
import { type Revision, revocationMargin } from './revision.ts'

/** Revokes all tokens of one authorization with one record, including tokens that are being issued at the same time. */
export interface Families {
  /** Returns the fingerprint of the family for an event; an empty object if there is no family or no observer. */
  describe(family: string | undefined): { readonly family?: string }
  /** Looks up whether the family is revoked. */
  revocationOf(family: string): Lookup<boolean>
  /**
   * Revokes the family of a code or refresh token of this client. Resolves when the storage has made the record
   * durable.
   */
  revoke(record: GrantRecord, client: Client, reason: string, trace: Trace): Promise<void>
  /** Revokes a family of which only the id is known, for as long as any token can be valid. */
  revokeByName(family: string, reason: string, trace: Trace): Promise<void>
  /**
   * Writes the record of a revoked family again, and replaces the revision: the process that wrote the record may have
   * crashed before it was durable, or before it replaced the revision.
   */
  confirm(record: GrantRecord): Promise<void>
}

/** Seconds for which access and identity tokens of this client can be valid. */
export const maxTokenLifetime = ({ accessTokenLifetime, identityTokenLifetime }: Client): number =>
  Math.max(accessTokenLifetime, identityTokenLifetime)

/** The number of families whose fingerprints are kept: more than concurrent requests. */
const maxDescribed = 512

export function createFamilies(deps: {
  readonly store: Store
  readonly revision: Revision
  readonly runtime: Runtime
  readonly recorder: Recorder
}): Families {
  const { store, revision, runtime, recorder } = deps
  /** Fingerprints by family: the events of one request have the same, and a hash takes a microsecond. */
  const described = createBoundedMap<{ readonly family: string }>(maxDescribed)

  function describe(family: string | undefined): { readonly family?: string } {
    if (family === undefined || !recorder.observed) return {}
    const known = described.get(family)
    if (known !== undefined) return known
    const description = { family: fingerprintOf(hashOf(family, runtime)) }
    described.set(family, description)
    return description
  }

  const keyOfFamily = (family: string): string => keyOf('revoked', hashOf(family, runtime))

  /** Creates the record of a revoked family. Returns `true` if it did not exist. */
  async function insertRevoked(family: string, lastEnd: number, reason: string): Promise<boolean> {
    const revoked: RevokedRecord = { revokedAt: runtime.now(), reason }
    return store.insert(keyOfFamily(family), revoked, lastEnd + revocationMargin)
  }

  /** @param lastEnd epoch seconds after which no token of the family is valid */
  async function revokeUntil(family: string, lastEnd: number, reason: string, trace: Trace): Promise<void> {
    // Even if the record exists: the process that wrote it may have crashed before the second replacement.
    const isNew = await revision.replaceBeforeAndAfter(() => insertRevoked(family, lastEnd, reason))
    if (isNew) recorder.record(trace, { type: 'family_revoked', reason, ...describe(family) })
  }

  return {
    describe,
    revocationOf: (family) => existenceAt(keyOfFamily(family)),
    async revoke({ family, keptUntil }, client, reason, trace) {
      // A successor may be valid longer than this record expects, because the configured lifetimes can have been
      // increased.
      const { absoluteLifetime } = client.refreshToken
      const lastEnd = Math.max(keptUntil, runtime.now() + absoluteLifetime + maxTokenLifetime(client))
      await revokeUntil(family, lastEnd, reason, trace)
    },
    revokeByName: (family, reason, trace) => revokeUntil(family, runtime.now() + maxLifetime, reason, trace),
    async confirm({ family, keptUntil }) {
      await revision.replaceBeforeAndAfter(() => insertRevoked(family, Math.max(keptUntil, runtime.now()), 'confirmed'))
    },
  }
}

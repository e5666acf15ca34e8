import { describeCause } from '../events/cause.ts'
import type { Recorder } from '../events/recorder.ts'
import type { Store } from '../records/store.ts'
import type { Runtime } from '../runtime.ts'
import { type KeyRing, type RingKey, signerOf } from './key-ring.ts'
import { createRingRefresh, importRing, isSameRing, type LiveRing } from './live-ring.ts'
import { createRingCommands } from './ring-commands.ts'
import { type RingChange, rotatedRing, type StoredKey, thumbprintForm } from './ring-content.ts'
import { createRingCipher, createRingRecords, type FoundRing, type RingRecords, ringFault } from './ring-records.ts'
import type { RingOptions } from './stored-keys-options.ts'

/**
 * Seconds that a retired key is kept beyond the longest token lifetime, for clock skew and for processes that have not
 * seen the rotation yet.
 */
const margin = 180

export interface StoredRingDeps {
  readonly issuer: string
  readonly options: RingOptions
  /** The longest token lifetime of the known clients plus the clock tolerance, in seconds. */
  readonly maxTokenLifetime: number
  readonly store: Store
  readonly recorder: Recorder
  readonly runtime: Runtime
}

/** Warns the operator that the storage contains a refused key. */
function warnOfRefused(refused: readonly StoredKey[], recorder: Recorder): void {
  for (const { kid, state } of refused) {
    recorder.record(recorder.start(), {
      type: 'startup_warning',
      reason: 'refused_key_stored',
      message: `The storage contains the refused key ${kid} in the state ${state}, because a backup or an older key ring was restored; the key is not used`,
    })
  }
}

/** Returns the stored generation, or creates the first one. If several processes create it, all use the same one. */
async function firstRing(records: RingRecords, create: () => Promise<RingChange>, issuer: string): Promise<FoundRing> {
  const newest = await records.newest(1)
  if (newest === 'lost') throw ringFault('lost')
  if (newest !== 'none') return newest
  const { keys } = await create()
  if (await records.insert({ issuer, number: 1, keys: [...keys] })) await records.finish(1)
  const stored = await records.newest(1)
  if (typeof stored === 'string') throw ringFault('lost')
  return stored
}

/**
 * Opens the ring that all processes with this storage share, and creates it if there is none.
 *
 * @throws TypeError with a sentence when the stored ring cannot be read: it is never replaced.
 */
export async function openStoredRing(deps: StoredRingDeps): Promise<KeyRing> {
  const { issuer, options, maxTokenLifetime, store, recorder, runtime } = deps
  const { algorithms, encryptionSecret, refused, keepFor, refreshInterval } = options
  const changeDeps = { algorithms, keptFor: Math.max(keepFor, maxTokenLifetime) + margin, runtime }
  const records = createRingRecords({ issuer, encryptionSecret, refused, store, runtime })
  const create = () => rotatedRing({ keys: [] }, algorithms, 'command', changeDeps)
  let live = await importRing(await firstRing(records, create, issuer), undefined, algorithms, runtime)
  warnOfRefused(live.refused, recorder)
  const fail = (reason: string, cause: unknown): void =>
    recorder.record(recorder.start(), { type: 'unhandled_failure', reason, cause: describeCause(cause) })

  async function adopt(generation: FoundRing): Promise<void> {
    const next = await importRing(generation, live, algorithms, runtime)
    // A newer generation may have been adopted in the meantime.
    if (next.content.number >= live.content.number) live = next
  }

  /** Writes the ring to a storage that was emptied, so that a new process does not create another ring. */
  async function restore({ content }: LiveRing): Promise<void> {
    fail('key_ring_lost', new Error('The storage lost the key ring; this process is writing it again'))
    if (await records.insert(content)) await records.finish(content.number)
  }

  const refresh = createRingRefresh({
    async read() {
      const newest = await records.newest(live.content.number)
      if (typeof newest === 'string') await restore(live)
      else if (!isSameRing(newest, live) || live.endsAt <= runtime.now()) await adopt(newest)
      commands.maintain()
    },
    interval: refreshInterval,
    onFailed: (cause) => fail('key_ring_unreadable', cause),
    runtime,
  })
  const commands = createRingCommands({
    current: () => live,
    adopt,
    refresh,
    records,
    options,
    changeDeps,
    issuer,
    recorder,
    onFailed: (cause) => fail('key_rotation_failed', cause),
    runtime,
  })
  await commands.complete()

  const [defaultAlgorithm] = algorithms
  async function signer(algorithm = defaultAlgorithm): Promise<RingKey> {
    await refresh.beforeUse()
    return signerOf(live.signers, algorithm)
  }
  return {
    algorithms,
    signer,
    sealer: () => signer(),
    // Not from a signing key: its private part is deleted when it stops signing.
    retrySecrets:
      encryptionSecret === undefined ? [] : [createRingCipher(encryptionSecret, issuer, runtime).retrySecret],
    async find(kid) {
      await refresh.beforeUse()
      const key = live.keys.get(kid)
      if (key !== undefined || !thumbprintForm.test(kid) || refused.includes(kid)) return key
      await refresh.forUnknownKey()
      return live.keys.get(kid)
    },
    async jwks() {
      await refresh.beforePublishing()
      return live.jwks
    },
    operator: Object.freeze({ list: commands.list, rotate: commands.rotate, retire: commands.retire }),
    async settled() {
      await refresh.settled()
      await commands.settled()
    },
  }
}

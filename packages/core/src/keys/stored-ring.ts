import type { Recorder } from '../events/trace.ts'
import type { MaybePromise } from '../json.ts'
import type { Store } from '../records/store.ts'
import type { Runtime } from '../runtime.ts'
import type { KeyRing, RingKey } from './key-ring.ts'
import { isSameRing, type LiveRing, liveRing } from './live-ring.ts'
import { type RingChange, rotatedRing } from './ring-change.ts'
import { createRingCommands } from './ring-commands.ts'
import { createRingLooks } from './ring-looks.ts'
import { createRingRecords, type FoundRing, type RingRecords, ringFault } from './ring-records.ts'
import { signerOf } from './signer-of.ts'
import type { CheckedStoredKeys } from './stored-keys.ts'

/** Seconds beyond the life of a token: clocks that differ, and a process that has not seen the rotation yet. */
const margin = 180

export interface StoredRingDeps {
  readonly issuer: string
  readonly options: CheckedStoredKeys
  /** Seconds that the longest token of the known clients lives, with the tolerance of the clock. */
  readonly longestLifetime: number
  readonly store: Store
  readonly recorder: Recorder
  readonly runtime: Runtime
}

// RFC 7638 of SHA-256: every key that is kept in the store is named so.
const thumbprintForm = /^[\w-]{43}$/u

/** What is stored, or what this process has stored because nothing was; of several, what one of them has. */
async function firstRing(records: RingRecords, create: () => Promise<RingChange>, issuer: string): Promise<FoundRing> {
  const found = await records.newest(1)
  if (found === 'lost') throw ringFault('lost')
  if (found !== 'none') return found
  const { keys } = await create()
  if (await records.insert({ issuer, number: 1, keys: [...keys] })) await records.finish(1)
  const stored = await records.newest(1)
  if (typeof stored === 'string') throw ringFault('lost')
  return stored
}

/**
 * Opens the ring that every process on this store shares, and makes it where there is none.
 *
 * @throws TypeError with a sentence when a ring is stored and cannot be read: it is never replaced.
 */
export async function openStoredRing(deps: StoredRingDeps): Promise<KeyRing> {
  const { issuer, options, longestLifetime, store, recorder, runtime } = deps
  const { algorithms, encryptionSecret, keepFor, lookEvery } = options
  const changeDeps = { algorithms, keptFor: Math.max(keepFor, longestLifetime) + margin, runtime }
  const records = createRingRecords({ issuer, encryptionSecret, store, runtime })
  const create = () => rotatedRing({ keys: [] }, algorithms, 'command', changeDeps)
  let live = await liveRing(await firstRing(records, create, issuer), undefined, algorithms, runtime)
  if (encryptionSecret !== undefined && !live.sealed) {
    recorder.record(recorder.start(), {
      type: 'startup_warning',
      reason: 'keys_not_encrypted',
      message:
        'The stored keys are not encrypted yet, though there is an encryptionSecret: they will be after the next rotation',
    })
  }
  const fail = (reason: string, cause: unknown): void =>
    recorder.record(recorder.start(), { type: 'unhandled_failure', reason, cause })

  async function adopt(found: FoundRing): Promise<void> {
    // Whoever can write to the store and has no secret would store a ring in clear.
    if (live.sealed && !found.sealed) throw ringFault('tampered')
    const next = await liveRing(found, live, algorithms, runtime)
    // Something newer may have come meanwhile.
    if (next.content.number >= live.content.number) live = next
  }

  /** A store that was emptied: whoever starts now must not begin another ring. */
  async function restore({ content }: LiveRing): Promise<void> {
    fail('key_ring_lost', new Error('The storage had lost the key ring; this process has written it again'))
    if (await records.insert(content)) await records.finish(content.number)
  }

  const looks = createRingLooks({
    async look() {
      const found = await records.newest(live.content.number)
      if (typeof found === 'string') await restore(live)
      else if (!isSameRing(found, live) || live.endsAt <= runtime.now()) await adopt(found)
      commands.maintain()
    },
    lookEvery,
    onFailed: (cause) => fail('key_ring_unreadable', cause),
    runtime,
  })
  const commands = createRingCommands({
    current: () => live,
    adopt,
    looks,
    records,
    options,
    changeDeps,
    issuer,
    recorder,
    onFailed: (cause) => fail('key_rotation_failed', cause),
    runtime,
  })
  await commands.complete()

  /** Answers at once unless what is known is too old. */
  const afterLook = <T>(answer: () => MaybePromise<T>): MaybePromise<T> => {
    const looking = looks.refresh()
    return looking === undefined ? answer() : looking.then(answer)
  }
  const find = (kid: string): MaybePromise<RingKey | undefined> => {
    const key = live.keys.get(kid)
    if (key !== undefined || !thumbprintForm.test(kid)) return key
    return looks.refreshForUnknown().then(() => live.keys.get(kid))
  }
  const [usual] = algorithms
  return {
    algorithms: [...algorithms],
    signer: (algorithm = usual) => afterLook(() => signerOf(live.signers, algorithm)),
    find: (kid) => afterLook(() => find(kid)),
    jwks: () => afterLook(() => live.jwks),
    operator: Object.freeze({ list: commands.list, rotate: commands.rotate, retire: commands.retire }),
    async settled() {
      await looks.settled()
      await commands.settled()
    },
  }
}

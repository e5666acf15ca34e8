import type { Recorder } from '../events/recorder.ts'
import { documentLifetime } from '../http/plain-response.ts'
import type { Runtime, SigningAlgorithm } from '../runtime.ts'
import type { KeyInfo, ProviderKeys } from './key-ring.ts'
import { abandonedAfter, isSameRing, type LiveRing, type RingRefresh, staleAfter } from './live-ring.ts'
import {
  type ChangeDeps,
  infoOf,
  keyIn,
  type RingChange,
  type RotationReason,
  retiredRing,
  rotatedRing,
  withoutEnded,
} from './ring-content.ts'
import type { FoundRing, RingRecords } from './ring-records.ts'
import type { RingOptions } from './stored-keys-options.ts'

/**
 * The minimum time in seconds that a next key is published before it signs: by then every process knows it, and older
 * caches have expired.
 */
const publishedFor = documentLifetime + staleAfter

/** The reason of a rotation: `key_refused` if it replaces a signing key that the configuration refuses. */
const reasonFor = ({ refused }: LiveRing, fallback: RotationReason): RotationReason =>
  refused.some(({ state }) => state === 'current') ? 'key_refused' : fallback

/** The maximum number of attempts to change the ring when other processes change it at the same time. */
const attempts = 5

export interface RingCommands extends ProviderKeys {
  /** Rotates due keys in the background: no request waits for a new key. */
  maintain(): void
  /** Creates missing keys at startup: those of new algorithms, and replacements for refused keys. */
  complete(): Promise<void>
  settled(): Promise<void>
}

interface RingCommandDeps {
  readonly current: () => LiveRing
  readonly adopt: (generation: FoundRing) => Promise<void>
  readonly refresh: RingRefresh
  readonly records: RingRecords
  readonly options: RingOptions
  readonly changeDeps: ChangeDeps
  readonly issuer: string
  readonly recorder: Recorder
  readonly onFailed: (cause: unknown) => void
  readonly runtime: Runtime
}

/** Creates the function that advances the ring to its next generation. */
function createAdvance({
  current,
  adopt,
  refresh,
  records,
  options,
  issuer,
  recorder,
}: Pick<RingCommandDeps, 'current' | 'adopt' | 'refresh' | 'records' | 'options' | 'issuer' | 'recorder'>) {
  /**
   * Inserts the next generation. Returns whether this process created it; if not, this process adopts the generation
   * of the one that did.
   */
  return async function advance(before: LiveRing, { keys, facts }: RingChange): Promise<boolean> {
    const number = before.content.number + 1
    const created: FoundRing = {
      content: { issuer, number, keys: [...keys] },
      sealed: options.encryptionSecret !== undefined,
      refused: [],
    }
    if (await records.insert(created.content)) await adopt(created)
    else await refresh.fresh()
    // Not the result of insert(): a driver that retries after a lost response reports that the record already existed.
    if (!isSameRing(created, current())) return false
    const trace = recorder.start()
    for (const fact of facts) recorder.record(trace, fact)
    await records.finish(number)
    return true
  }
}

/** Creates the functions that determine which keys of the ring are missing, due, and known to every process. */
function createKeyTimes({ current, options, runtime }: Pick<RingCommandDeps, 'current' | 'options' | 'runtime'>) {
  const { algorithms, rotateAfter } = options
  const kidOf = (algorithm: SigningAlgorithm): string | undefined => keyIn(current().content, algorithm, 'current')?.kid

  /** Seconds until every process and every cache knows the next key; 0 or less if they already do. */
  function secondsUntilKnown(algorithm: SigningAlgorithm): number {
    const next = keyIn(current().content, algorithm, 'next')
    return next === undefined ? 0 : next.createdAt + publishedFor - runtime.now()
  }

  function assertPublished(due: readonly SigningAlgorithm[], force: boolean | undefined): void {
    const wait = Math.max(0, ...due.map(secondsUntilKnown))
    if (wait > 0 && force !== true) {
      throw new TypeError(
        `keys: the next key was published too recently, so APIs with cached keys would refuse its tokens; wait ${wait} s, or use force`,
      )
    }
  }

  /** Whether every algorithm has a current and a next key. */
  const isComplete = (): boolean =>
    algorithms.every((algorithm) => {
      const { content } = current()
      return keyIn(content, algorithm, 'current') !== undefined && keyIn(content, algorithm, 'next') !== undefined
    })

  const missing = (): readonly SigningAlgorithm[] => algorithms.filter((algorithm) => kidOf(algorithm) === undefined)

  const due = (): readonly SigningAlgorithm[] =>
    algorithms.filter((algorithm) => {
      const key = keyIn(current().content, algorithm, 'current')
      if (key === undefined) return true
      return (key.activatedAt ?? key.createdAt) + rotateAfter <= runtime.now() && secondsUntilKnown(algorithm) <= 0
    })

  return { kidOf, assertPublished, isComplete, missing, due }
}

/**
 * Creates the commands that change the ring. Each change is a new generation: one process inserts it, the others adopt
 * it.
 */
export function createRingCommands(deps: RingCommandDeps): RingCommands {
  const { current, refresh, changeDeps, onFailed, runtime } = deps
  const { algorithms } = deps.options
  const advance = createAdvance(deps)
  const { kidOf, assertPublished, isComplete, missing, due } = createKeyTimes(deps)
  let maintenance: { readonly since: number; readonly promise: Promise<void> } | undefined

  async function rotateDue(): Promise<void> {
    const ring = current()
    const change = await rotatedRing(ring.content, due(), reasonFor(ring, 'scheduled'), changeDeps)
    await advance(ring, change)
  }

  const list = (): readonly KeyInfo[] => withoutEnded(current().content.keys, runtime.now()).map(infoOf)

  const busy = (): TypeError => new TypeError('keys: other processes are changing the keys; try again')

  return {
    maintain() {
      const since = runtime.elapsed()
      if (maintenance !== undefined && since - maintenance.since < abandonedAfter) return
      if (due().length === 0) return
      const started = { since, promise: rotateDue().catch(onFailed) }
      maintenance = started
      void started.promise.then(() => {
        if (maintenance === started) maintenance = undefined
      })
    },

    async complete() {
      for (let attempt = 0; !isComplete(); attempt += 1) {
        if (attempt === attempts) throw busy()
        const ring = current()
        await advance(ring, await rotatedRing(ring.content, missing(), reasonFor(ring, 'command'), changeDeps))
      }
    },

    async list() {
      await refresh.fresh()
      return list()
    },

    async rotate({ force } = {}) {
      await refresh.fresh()
      const before = new Map(algorithms.map((algorithm) => [algorithm, kidOf(algorithm)]))
      for (let attempt = 0; attempt < attempts; attempt += 1) {
        // Skips algorithms that another process has rotated at the same time.
        const left = algorithms.filter((algorithm) => kidOf(algorithm) === before.get(algorithm))
        if (left.length === 0) return list()
        assertPublished(left, force)
        const ring = current()
        if (await advance(ring, await rotatedRing(ring.content, left, 'command', changeDeps))) return list()
      }
      throw busy()
    },

    async retire(kid, { compromised = false, force } = {}) {
      await refresh.fresh()
      for (let attempt = 0; attempt < attempts; attempt += 1) {
        const ring = current()
        const key = ring.content.keys.find((each) => each.kid === kid)
        if (key === undefined && attempt === 0) {
          throw new TypeError('keys: there is no key with this kid; list the keys to see their ids')
        }
        if (key === undefined || (key.state === 'retiring' && !compromised)) return list()
        if (key.state === 'current' && !compromised) assertPublished([key.algorithm], force)
        if (await advance(ring, await retiredRing(ring.content, key, compromised, changeDeps))) return list()
      }
      throw busy()
    },

    async settled() {
      await maintenance?.promise
    },
  }
}

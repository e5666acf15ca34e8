import { randomInt } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { errorCode } from './ignore-errors.ts'
import { listDirectories } from './list-slots.ts'
import { type StoreDirectory, shardNames } from './store-directory.ts'
import { sweepDraft, sweepSlot } from './sweep.ts'

/** Sweep budget that each write adds: this many slots checked, or one directory of slots listed. */
const budgetPerWrite = 4
/** Slots checked before yielding to the event loop; takes 2 ms when all of them have expired. */
const slotsPerTurn = 32
/** Maximum budget after a burst of writes, so that a finished process can exit soon. */
const maxBudget = 4096

/** Removes expired items in small steps that writes trigger. No timer: without writes, the storage does not grow. */
export interface Sweeper {
  /** Schedules a step after the current code. Never throws. */
  step(): void
  /** Stops sweeping. Resolves when the running step has ended. */
  stop(): Promise<void>
}

export function createSweeper({ directory, items, tmp }: StoreDirectory): Sweeper {
  const reported = new Set<string>()
  // Each process starts at a random directory, so that many short-lived processes together cover all.
  let next = randomInt(shardNames.length)
  let pending: (() => void)[] = []
  let budget = 0
  let stopped = false
  let running: Promise<void> | undefined

  async function list(): Promise<void> {
    const shard = shardNames[next]
    next = (next + 1) % (shardNames.length + 1)
    const path = shard === undefined ? tmp : `${items}/${shard}`
    const sweep =
      shard === undefined ? (name: string) => sweepDraft(tmp, name) : (name: string) => sweepSlot(`${path}/${name}`)
    pending = (await listDirectories(path)).map((name) => () => sweep(name))
  }

  async function turn(): Promise<void> {
    for (let visited = 0; visited < slotsPerTurn && budget > 0 && !stopped; visited += 1) {
      const sweep = pending.pop()
      budget -= sweep === undefined ? budgetPerWrite : 1
      if (sweep === undefined) await list()
      else sweep()
    }
  }

  /** Warns once per error code: the error may recur at every write. */
  function report(error: unknown): void {
    const code = errorCode(error) ?? String(error)
    if (reported.has(code)) return
    reported.add(code)
    process.emitWarning(`Cannot remove expired items in ${directory}; they stay until this is fixed: ${error}`, {
      type: 'GrantryWarning',
      code,
    })
  }

  async function run(): Promise<void> {
    while (budget > 0 && !stopped) {
      await setImmediate()
      try {
        await turn()
      } catch (error) {
        report(error)
      }
    }
    running = undefined
  }

  return {
    step() {
      if (stopped) return
      budget = Math.min(budget + budgetPerWrite, maxBudget)
      running ??= run()
    },
    async stop() {
      stopped = true
      await running
    },
  }
}

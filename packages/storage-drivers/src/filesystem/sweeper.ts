import { randomInt } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { fanNames, type Place } from './place.ts'
import { sweepDraft, sweepSlot } from './sweep.ts'
import { codeOf } from './tolerating.ts'
import { foldersIn } from './walk.ts'

/** Sweep budget that each write adds: this many slots checked, or one directory of slots listed. */
const paidByWrite = 4
/** Slots checked before yielding to the event loop; takes 2 ms when all of them have expired. */
const slotsPerTurn = 32
/** Maximum budget after a burst of writes, so that a finished process can exit soon. */
const mostOwed = 4096

/** Removes expired items in small steps that writes trigger. No timer: without writes, the storage does not grow. */
export interface Sweeper {
  /** Schedules a step after the current code. Never throws. */
  step(): void
  /** Stops sweeping. Resolves when the running step has ended. */
  stop(): Promise<void>
}

export function createSweeper({ directory, items, tmp }: Place): Sweeper {
  const reported = new Set<string>()
  // Each process starts at a random directory, so that many short-lived processes together cover all.
  let next = randomInt(fanNames.length)
  let waiting: (() => void)[] = []
  let owed = 0
  let stopped = false
  let running: Promise<void> | undefined

  async function list(): Promise<void> {
    const fan = fanNames[next]
    next = (next + 1) % (fanNames.length + 1)
    const path = fan === undefined ? tmp : `${items}/${fan}`
    const sweep =
      fan === undefined ? (name: string) => sweepDraft(tmp, name) : (name: string) => sweepSlot(`${path}/${name}`)
    waiting = (await foldersIn(path)).map((name) => () => sweep(name))
  }

  async function turn(): Promise<void> {
    for (let visited = 0; visited < slotsPerTurn && owed > 0 && !stopped; visited += 1) {
      const sweep = waiting.pop()
      owed -= sweep === undefined ? paidByWrite : 1
      if (sweep === undefined) await list()
      else sweep()
    }
  }

  /** Warns once per error code: the error may recur at every write. */
  function report(error: unknown): void {
    const code = codeOf(error) ?? String(error)
    if (reported.has(code)) return
    reported.add(code)
    process.emitWarning(`Cannot remove expired items in ${directory}; they stay until this is fixed: ${error}`, {
      type: 'GrantryWarning',
      code,
    })
  }

  async function run(): Promise<void> {
    while (owed > 0 && !stopped) {
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
      owed = Math.min(owed + paidByWrite, mostOwed)
      running ??= run()
    },
    async stop() {
      stopped = true
      await running
    },
  }
}

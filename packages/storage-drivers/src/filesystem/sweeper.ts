import { randomInt } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { fanNames, type Place } from './place.ts'
import { sweepDraft, sweepSlot } from './sweep.ts'
import { codeOf } from './tolerating.ts'
import { foldersIn } from './walk.ts'

/** What one write pays for: so many slots looked at, or one directory of slots listed. */
const paidByWrite = 4
/** Slots looked at before the event loop gets a turn; 2 ms when all of them have expired. */
const slotsPerTurn = 32
/** Beyond this, a burst of writes pays no more: a process that is done would be kept from ending. */
const mostOwed = 4096

/** Drops what has expired in small steps, paid by writes. No timer: without writes, nothing grows. */
export interface Sweeper {
  /** Starts a step after the running code, or adds one to those that wait. Never fails. */
  step(): void
  /** Resolves when no step runs, nor will. */
  stop(): Promise<void>
}

export function createSweeper({ directory, items, tmp }: Place): Sweeper {
  const reported = new Set<string>()
  // Each process begins elsewhere: of many that live shortly, together they come round.
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

  /** Once for each kind: it may happen at every write. */
  function report(error: unknown): void {
    const code = codeOf(error) ?? String(error)
    if (reported.has(code)) return
    reported.add(code)
    process.emitWarning(`Expired items in ${directory} may stay until this is repaired: ${error}`, {
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

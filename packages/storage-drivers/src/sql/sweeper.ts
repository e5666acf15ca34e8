type MaybePromise<T> = T | Promise<T>

/** The result of one step of a sweeper. */
export interface SweepStep {
  /** Number of rows. */
  readonly removed: number
  /** Seconds since the end of the oldest of them; 0 without any. */
  readonly age: number
  /** Whether it has removed as many as it may, so that there can be more. */
  readonly isFull: boolean
}

/** The backlog of the removal of expired rows. */
export interface SweepState {
  /** Rows that this process has removed. */
  readonly removed: number
  /** Seconds for which the oldest row of the last step had been expired. */
  readonly age: number
  /** Whether the last step found more rows than it may remove. */
  readonly isBehind: boolean
}

export interface Sweeper {
  /** Begins to sweep. The timer does not keep the process alive. */
  start(): void
  /** Ends sweeping. Resolves when the running step has ended. */
  stop(): Promise<void>
  state(): SweepState
}

export interface SweeperOptions {
  /** Name of the table and its server, for the warning. */
  readonly where: string
  /** Removes a limited number of expired rows that no other process is removing. */
  removeExpired(): MaybePromise<SweepStep>
}

/** Milliseconds between two steps. */
const pauses = { first: 1000, some: 1000, longest: 60_000 }

/** After a full step, the sweeper pauses twice as long as the step took, so it uses at most a third of a connection. */
const pauseAfterFull = (took: number): number => Math.max(10, took * 2)

/** Several processes that started together do not stay together. */
const withJitter = (pause: number): number => pause * (0.75 + Math.random() / 2)

const codeOf = (error: unknown): string => {
  const code = (error as { readonly code?: unknown } | undefined)?.code
  return typeof code === 'string' ? code : String(error)
}

/**
 * Removes expired rows in small steps, in a timer of its own: never in a request. Several processes can do this with
 * one table. The rate follows the load: a step that is full is followed by another one soon, and steps without any rows
 * become rare. An error postpones the next step, and each kind of error causes one warning.
 */
export function createSweeper({ where, removeExpired }: SweeperOptions): Sweeper {
  const reported = new Set<string>()
  let state: SweepState = { removed: 0, age: 0, isBehind: false }
  let pause = pauses.first
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> | undefined
  let isStopped = false

  function report(error: unknown): void {
    const code = codeOf(error)
    if (reported.has(code)) return
    reported.add(code)
    process.emitWarning(`Cannot remove expired items in ${where}; they stay until this is fixed: ${error}`, {
      type: 'GrantryWarning',
      code,
    })
  }

  async function step(): Promise<void> {
    const start = performance.now()
    try {
      const { removed, age, isFull } = await removeExpired()
      state = { removed: state.removed + removed, age, isBehind: isFull }
      if (state.isBehind) pause = pauseAfterFull(performance.now() - start)
      else pause = removed > 0 ? pauses.some : Math.min(Math.max(pause, pauses.some) * 2, pauses.longest)
    } catch (error) {
      pause = pauses.longest
      if (!isStopped) report(error)
    }
  }

  function schedule(): void {
    if (isStopped) return
    timer = setTimeout(() => {
      running = step().then(() => {
        running = undefined
        schedule()
      })
    }, withJitter(pause))
    // Bun and Deno return an object with `unref()`, too.
    timer.unref()
  }

  return {
    start() {
      if (timer === undefined) schedule()
    },
    async stop() {
      isStopped = true
      clearTimeout(timer)
      await running
    },
    state: () => state,
  }
}

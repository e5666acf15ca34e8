import type { AtomicDriver } from '@grantry/core'
import { type Operations, operationsOf } from './operations.ts'
import type { DriverSubject } from './subject.ts'
import { timedOut, withTimeout } from './timing.ts'

/** Time limit of an operation, in seconds: the default of the core. */
const defaultTimeout = 5

/** The functions that the kit provides to a proof. */
export interface ProofContext {
  readonly subject: DriverSubject
  readonly rounds: number
  /** Time limit of an operation, in seconds. */
  readonly operationTimeout: number
  /** Creates and opens a new driver of the subject. */
  open(): Promise<Operations>
  /** Records a failure: what was expected and what was seen. */
  fail(message: string): void
  /** Returns the result of an operation, or `undefined` when it rejects; for operations that are allowed to reject. */
  attempt<T>(act: () => Promise<T>): Promise<{ readonly value: T } | undefined>
  /** Marks the proof as skipped, with the reason. */
  skip(reason: string): void
  /** Registers keys that other processes write, for removal at the end. */
  trackKeys(keys: readonly string[]): void
}

/** One promise of a driver and its test. */
export interface Proof {
  /** What a correct driver does. */
  readonly name: string
  /** The option of the subject that the proof requires. */
  readonly needs?: 'module' | 'outage'
  /** Set when the proof mostly waits, so that it can run in parallel with others. */
  readonly waits?: true
  /** Reports failures to the context. An exception counts as a failure too. */
  run(context: ProofContext): Promise<void>
}

/** The result of one proof. */
export interface ProofFindings {
  /** The name of the opened driver. */
  driver?: string
  /** Messages. A set, so that repeated failures count once. */
  readonly failures: Set<string>
  skipReason?: string
  /** Set when an operation hung; further operations would hang too. */
  hung?: true
}

const errorMessage = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown))

function assertDriver(driver: AtomicDriver): void {
  for (const method of ['getItem', 'setItem', 'removeItem', 'insertItem', 'incrementItem', 'replaceItem'] as const) {
    if (typeof driver?.[method] !== 'function')
      throw new Error(`open() did not return a driver: ${method}() is missing`)
  }
  for (const method of ['getItems', 'commit', 'listKeys'] as const) {
    if (driver[method] !== undefined && typeof driver[method] !== 'function')
      throw new Error(`open() returned a driver whose ${method} is not a function; omit it, because it is optional`)
  }
}

/** Creates a context, runs `use` with it, then closes the drivers and removes the written items. */
export async function withProofContext(
  subject: DriverSubject,
  use: (context: ProofContext) => Promise<void>,
): Promise<Readonly<ProofFindings>> {
  const findings: ProofFindings = { failures: new Set() }
  const written = new Set<string>()
  const live = new Set<Operations>()

  const { operationTimeout = defaultTimeout } = subject

  async function withLimit<T>(act: () => Promise<T>, what: string): Promise<T> {
    let outcome: T | typeof timedOut
    try {
      outcome = await withTimeout(act(), operationTimeout)
    } catch (cause) {
      throw new Error(`${what} failed: ${errorMessage(cause)}`, { cause })
    }
    if (outcome !== timedOut) return outcome
    findings.hung = true
    throw new Error(`${what} did not end within ${operationTimeout} s`)
  }

  async function open(): Promise<Operations> {
    const driver = await withLimit(async () => subject.open(), 'open() of the subject')
    assertDriver(driver)
    if (driver.name !== undefined) findings.driver = driver.name
    const operations = operationsOf(driver, {
      withLimit,
      onWrite: (key) => written.add(key),
      fail: (message) => findings.failures.add(message),
    })
    const opened: Operations = {
      ...operations,
      async dispose() {
        if (live.delete(opened)) await operations.dispose()
      },
    }
    live.add(opened)
    await operations.reopen()
    return opened
  }

  async function clear(): Promise<void> {
    if (findings.hung) return
    if (live.size === 0 && written.size > 0) await open()
    for (const operations of live) await Promise.allSettled([...written].map((key) => operations.remove(key)))
    await Promise.allSettled([...live].map((operations) => operations.dispose()))
  }

  const context: ProofContext = {
    subject,
    rounds: subject.rounds ?? 1,
    operationTimeout,
    open,
    fail: (message) => findings.failures.add(message),
    async attempt(act) {
      try {
        return { value: await act() }
      } catch (thrown) {
        if (findings.hung) throw thrown
        return undefined
      }
    },
    skip(reason) {
      findings.skipReason = reason
    },
    trackKeys(keys) {
      for (const key of keys) written.add(key)
    },
  }
  try {
    await use(context)
  } catch (thrown) {
    findings.failures.add(errorMessage(thrown))
  } finally {
    // Failures to remove or close are covered by other proofs.
    await Promise.allSettled([clear()])
  }
  return findings
}

import type { AtomicDriver } from '@grantry/core'
import { tooLate, within } from './moments.ts'
import { type Operations, operationsOf } from './operations.ts'
import type { DriverSubject } from './subject.ts'

/** Time limit of an operation, in seconds: the default of the core. */
const answerLimit = 5

/** What one proof works with. */
export interface Bench {
  readonly subject: DriverSubject
  readonly rounds: number
  /** Creates and opens a new driver of the subject. */
  open(): Promise<Operations>
  /** Records a failure: what was expected and what was seen. */
  broken(sentence: string): void
  /** Returns the result of an operation, or `undefined` when it rejects; for operations that are allowed to reject. */
  attempt<T>(act: () => Promise<T>): Promise<{ readonly answer: T } | undefined>
  /** Marks the proof as left out, with the reason. */
  leaveOut(reason: string): void
  /** Registers keys that other processes write, for removal at the end. */
  own(keys: readonly string[]): void
}

/** The result of one proof. */
export interface Findings {
  /** The name of the opened driver. */
  driver?: string
  /** Messages. A set, so that repeated failures count once. */
  readonly broken: Set<string>
  unproved?: string
  /** Set when an operation hung; further operations would hang too. */
  hung?: true
}

const messageOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown))

function assertDriver(driver: AtomicDriver): void {
  for (const method of ['getItem', 'setItem', 'removeItem', 'insertItem'] as const) {
    if (typeof driver?.[method] !== 'function')
      throw new Error(`open() did not return a driver: ${method}() is missing`)
  }
}

/** Creates a bench, runs `examine` with it, then closes the drivers and removes the written items. */
export async function onBench(
  subject: DriverSubject,
  examine: (bench: Bench) => Promise<void>,
): Promise<Readonly<Findings>> {
  const findings: Findings = { broken: new Set() }
  const written = new Set<string>()
  const live = new Set<Operations>()

  async function bounded<T>(act: () => Promise<T>, what: string): Promise<T> {
    let outcome: T | typeof tooLate
    try {
      outcome = await within(act(), answerLimit)
    } catch (cause) {
      throw new Error(`${what} failed: ${messageOf(cause)}`, { cause })
    }
    if (outcome !== tooLate) return outcome
    findings.hung = true
    throw new Error(`${what} did not end within ${answerLimit} s`)
  }

  async function open(): Promise<Operations> {
    const made = await bounded(async () => subject.open(), 'open() of the subject')
    assertDriver(made)
    if (made.name !== undefined) findings.driver = made.name
    const operations = operationsOf(made, {
      bounded,
      wrote: (key) => written.add(key),
      broken: (sentence) => findings.broken.add(sentence),
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

  const bench: Bench = {
    subject,
    rounds: subject.rounds ?? 1,
    open,
    broken: (sentence) => findings.broken.add(sentence),
    async attempt(act) {
      try {
        return { answer: await act() }
      } catch (thrown) {
        if (findings.hung) throw thrown
        return undefined
      }
    },
    leaveOut(reason) {
      findings.unproved = reason
    },
    own(keys) {
      for (const key of keys) written.add(key)
    },
  }
  try {
    await examine(bench)
  } catch (thrown) {
    findings.broken.add(messageOf(thrown))
  } finally {
    // Failures to remove or close are covered by other proofs.
    await Promise.allSettled([clear()])
  }
  return findings
}

import type { AtomicDriver } from '@grantry/core'
import { tooLate, within } from './moments.ts'
import { type Operations, operationsOf } from './operations.ts'
import type { DriverSubject } from './subject.ts'

/** Seconds that an operation may take: as many as the core gives it unless told otherwise. */
const answerLimit = 5

/** Where one proof is made. */
export interface Bench {
  readonly subject: DriverSubject
  readonly rounds: number
  /** A driver of the subject, made and opened anew. */
  open(): Promise<Operations>
  /** Says what was expected and what was seen. */
  broken(sentence: string): void
  /** What an operation answers; `undefined` when it rejects, where that is as right as an answer. */
  attempt<T>(act: () => Promise<T>): Promise<{ readonly answer: T } | undefined>
  /** Says why it could not be proved. */
  leaveOut(reason: string): void
  /** Keys that others have written and that must be removed at the end. */
  own(keys: readonly string[]): void
}

/** What became of one proof. */
export interface Findings {
  /** The name of the driver that was opened. */
  driver?: string
  /** Sentences; a set, because a promise that is broken a hundred times is one finding. */
  readonly broken: Set<string>
  unproved?: string
  /** An operation never ended, so that whatever else is tried would wait as well. */
  hung?: true
}

const messageOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown))

function assertDriver(driver: AtomicDriver): void {
  for (const method of ['getItem', 'setItem', 'removeItem', 'insertItem'] as const) {
    if (typeof driver?.[method] !== 'function') throw new Error(`open() has made no driver: ${method}() is missing`)
  }
}

/** Makes a bench, lets something happen on it, and clears away what was opened and written. */
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
    // What cannot be removed or closed has its own proofs.
    await Promise.allSettled([clear()])
  }
  return findings
}

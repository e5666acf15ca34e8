import { basicOperations } from './basic-operations.ts'
import { betweenProcesses } from './between-processes.ts'
import { commitRaces } from './commit-race.ts'
import { commitProofs } from './commits.ts'
import { commitsBetweenProcesses } from './commits-between-processes.ts'
import { contention } from './contention.ts'
import { counterProofs } from './counters.ts'
import { expiredInsert } from './expired-insert.ts'
import { expiry } from './expiry.ts'
import { hostileKeyProofs } from './hostile-keys.ts'
import { hostileValues } from './hostile-values.ts'
import { invalidValues } from './invalid-values.ts'
import { keyListProofs } from './key-lists.ts'
import { lifecycle } from './lifecycle.ts'
import { outageProofs } from './outage.ts'
import { type Proof, withProofContext } from './proof-context.ts'
import { redemptionRace } from './redemption-race.ts'
import { redemptionSteps } from './redemption-steps.ts'
import { replacedItemProofs } from './replaced-items.ts'
import { replacementProofs } from './replacements.ts'
import { createReport, type DriverReport, type ProofResult, reportError } from './report.ts'
import { severalItems } from './several-items.ts'
import { assertSubject, type DriverSubject } from './subject.ts'
import { tornReads } from './torn-reads.ts'

const proofs: readonly Proof[] = [
  ...basicOperations,
  ...severalItems,
  ...contention,
  ...expiry,
  ...expiredInsert,
  ...tornReads,
  ...hostileKeyProofs,
  ...hostileValues,
  ...lifecycle,
  ...betweenProcesses,
  ...redemptionRace,
  ...redemptionSteps,
  ...invalidValues,
  ...outageProofs,
  ...counterProofs,
  ...commitProofs,
  ...commitRaces,
  ...commitsBetweenProcesses,
  ...replacementProofs,
  ...replacedItemProofs,
  ...keyListProofs,
]

/** A result, and what later proofs need to know. */
interface ProofRun {
  readonly result: ProofResult
  /** An operation hung. */
  readonly hung: boolean
  readonly driver: string | undefined
}

const missingReasons = {
  module: 'the subject has no module for child processes to load',
  outage: 'the subject has no outage option to make the storage unavailable',
}

/** Returns why the subject cannot run the proof; `undefined` when it can. */
const missingOption = ({ needs }: Proof, subject: DriverSubject): string | undefined =>
  needs !== undefined && subject[needs] === undefined ? missingReasons[needs] : undefined

const skipProof = ({ name }: Proof, reason: string): ProofRun => ({
  result: { name, outcome: 'skipped', messages: [reason], seconds: 0 },
  hung: false,
  driver: undefined,
})

/** A driver that folds keys fails one proof in a hundred ways. */
const maxMessages = 8

const truncate = (messages: readonly string[]): readonly string[] =>
  messages.length <= maxMessages
    ? messages
    : [...messages.slice(0, maxMessages), `and ${messages.length - maxMessages} more like these`]

async function runProof(proof: Proof, subject: DriverSubject): Promise<ProofRun> {
  const startedAt = performance.now()
  const {
    failures,
    skipReason,
    hung = false,
    driver,
  } = await withProofContext(subject, (context) => proof.run(context))
  const seconds = (performance.now() - startedAt) / 1000
  const finish = (outcome: ProofResult['outcome'], messages: readonly string[]): ProofRun => ({
    result: { name: proof.name, outcome, messages, seconds },
    hung,
    driver,
  })
  if (failures.size > 0) return finish('failed', truncate([...failures]))
  return skipReason === undefined ? finish('passed', []) : finish('skipped', [skipReason])
}

/** One promise of a driver, to run as one test of a test runner. */
export interface DriverProof {
  readonly name: string
  /** Why the subject cannot run this proof. Skip the test with this reason. */
  readonly skipReason?: string | undefined
  /** Runs the proof. Rejects with an Error that lists what was expected and what was seen. */
  prove(): Promise<void>
}

/**
 * Returns the promises of a driver one by one, for a test runner.
 *
 * @throws TypeError when the subject is malformed
 * @example
 * for (const { name, skipReason, prove } of driverProofs({ open: () => myDriver() })) {
 *   test(name, { skip: skipReason ?? false, timeout: 120_000 }, prove)
 * }
 */
export function driverProofs(subject: DriverSubject): readonly DriverProof[] {
  assertSubject(subject)
  return proofs.map((proof) => {
    const skipReason = missingOption(proof, subject)
    return {
      name: proof.name,
      ...(skipReason !== undefined && { skipReason }),
      async prove() {
        if (skipReason !== undefined) throw new Error(`${proof.name}: cannot run, because ${skipReason}`)
        const { result, driver } = await runProof(proof, subject)
        if (result.outcome === 'failed') throw reportError(createReport(driver, [result]))
      },
    }
  })
}

interface ProveOptions {
  readonly onResult?: ((result: ProofResult) => void) | undefined
}

// The kit also runs on platforms without processes.
const isTerminal = (): boolean => globalThis.process?.stderr?.isTTY === true

const printResult = ({ name, outcome }: ProofResult): void =>
  void process.stderr.write(`${outcome.padEnd(7)} ${name}\n`)

/**
 * Tests whether a driver can safely store codes and tokens: on its own, between processes, and under a provider. Takes
 * 2 to 60 seconds, depending on the storage. Needs no test runner, and removes the items that it writes.
 *
 * @param more `onResult` is called with the result of each proof as soon as it has ended. Default: a line on a terminal
 * @returns the report; proofs are skipped when the subject has no `module` or `outage`
 * @throws Error that lists every failed proof; its `cause` is the report
 * @throws TypeError when the subject is malformed
 * @example
 * const report = await proveDriver({ open: () => myDriver() })
 * console.log(report.text)
 */
export async function proveDriver(
  subject: DriverSubject,
  { onResult = isTerminal() ? printResult : undefined }: ProveOptions = {},
): Promise<DriverReport> {
  assertSubject(subject)
  const runs = new Map<Proof, ProofRun>()
  async function run(proof: Proof): Promise<void> {
    const hung = [...runs.values()].some((earlier) => earlier.hung)
    const skipReason =
      missingOption(proof, subject) ?? (hung ? 'not run, because an earlier operation of the driver hung' : undefined)
    const ran = skipReason === undefined ? await runProof(proof, subject) : skipProof(proof, skipReason)
    runs.set(proof, ran)
    onResult?.(ran.result)
  }
  async function runInSequence(some: readonly Proof[]): Promise<void> {
    for (const proof of some) await run(proof)
  }
  const [first, ...others] = proofs
  if (first !== undefined) await run(first)
  // Proofs that mostly wait run in parallel with the rest. A real outage would disturb others, so it runs alone.
  const alone = others.filter(({ needs }) => needs === 'outage')
  const busy = others.filter((proof) => !proof.waits && !alone.includes(proof))
  await Promise.all([...others.filter(({ waits }) => waits).map(run), runInSequence(busy)])
  await runInSequence(alone)

  const all = proofs.flatMap((proof) => runs.get(proof) ?? [])
  const report = createReport(
    all.find(({ driver }) => driver !== undefined)?.driver,
    all.map(({ result }) => result),
  )
  if (report.results.some(({ outcome }) => outcome === 'failed')) throw reportError(report)
  return report
}

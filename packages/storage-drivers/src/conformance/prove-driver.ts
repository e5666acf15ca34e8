import { betweenProcesses } from './between-processes.ts'
import { contention } from './contention.ts'
import { counterProofs } from './counters.ts'
import { type Examined, examine, lackOf, leftOut } from './examine.ts'
import { expiredInsert } from './expired-insert.ts'
import { expiry } from './expiry.ts'
import { hostileKeyProofs } from './hostile-keys.ts'
import { hostileValues } from './hostile-values.ts'
import { keeping } from './keeping.ts'
import { lifecycle } from './lifecycle.ts'
import { outageProofs } from './outage.ts'
import { plantedValues } from './planted-values.ts'
import type { Proof } from './proof.ts'
import { redemptionRace } from './redemption-race.ts'
import { redemptionSteps } from './redemption-steps.ts'
import { type DriverReport, errorOf, reportOf } from './report.ts'
import { assertSubject, type DriverSubject } from './subject.ts'
import { tornReads } from './torn-reads.ts'

const proofs: readonly Proof[] = [
  ...keeping,
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
  ...plantedValues,
  ...outageProofs,
  ...counterProofs,
]

/** One promise of a driver, to run as one test of a test runner. */
export interface DriverProof {
  readonly name: string
  /** Why the subject cannot run this proof. Skip the test with this reason. */
  readonly leftOut?: string
  /** Runs the proof. Rejects with an Error that lists what was expected and what was seen. */
  prove(): Promise<void>
}

/**
 * Returns the promises of a driver one by one, for a test runner.
 *
 * @throws TypeError when the subject is malformed
 * @example
 * for (const { name, leftOut, prove } of driverProofs({ open: () => myDriver() })) {
 *   test(name, { skip: leftOut ?? false, timeout: 60_000 }, prove)
 * }
 */
export function driverProofs(subject: DriverSubject): readonly DriverProof[] {
  assertSubject(subject)
  return proofs.map((proof) => {
    const lack = lackOf(proof, subject)
    return {
      name: proof.name,
      ...(lack !== undefined && { leftOut: lack }),
      async prove() {
        if (lack !== undefined) throw new Error(`${proof.name}: cannot run, because ${lack}`)
        const { result, driver } = await examine(proof, subject)
        if (result.outcome === 'broken') throw errorOf(reportOf(driver, [result]))
      },
    }
  })
}

/**
 * Tests whether a driver can safely store codes and tokens: on its own, between processes, and under a provider. Takes
 * 2 to 20 seconds, depending on the storage. Needs no test runner, and removes the items that it writes.
 *
 * @returns the report; proofs are left out when the subject has no `module` or `outage`
 * @throws Error that lists every broken promise; its `cause` is the report
 * @throws TypeError when the subject is malformed
 * @example
 * const report = await proveDriver({ open: () => myDriver() })
 * console.log(report.text)
 */
export async function proveDriver(subject: DriverSubject): Promise<DriverReport> {
  assertSubject(subject)
  const examined = new Map<Proof, Examined>()
  async function run(proof: Proof): Promise<void> {
    const hung = [...examined.values()].some((earlier) => earlier.hung)
    const untried =
      lackOf(proof, subject) ?? (hung ? 'not run, because an earlier operation of the driver hung' : undefined)
    examined.set(proof, untried === undefined ? await examine(proof, subject) : leftOut(proof, untried))
  }
  async function inTurn(some: readonly Proof[]): Promise<void> {
    for (const proof of some) await run(proof)
  }
  const [first, ...others] = proofs
  if (first !== undefined) await run(first)
  // Proofs that mostly wait run in parallel with the rest. A real outage would disturb others, so it runs alone.
  const alone = others.filter(({ needs }) => needs === 'outage')
  const busy = others.filter((proof) => !proof.waits && !alone.includes(proof))
  await Promise.all([...others.filter(({ waits }) => waits).map(run), inTurn(busy)])
  await inTurn(alone)

  const all = proofs.flatMap((proof) => examined.get(proof) ?? [])
  const report = reportOf(
    all.find(({ driver }) => driver !== undefined)?.driver,
    all.map(({ result }) => result),
  )
  if (report.results.some(({ outcome }) => outcome === 'broken')) throw errorOf(report)
  return report
}

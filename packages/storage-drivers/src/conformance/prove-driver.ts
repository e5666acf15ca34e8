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

/** One promise, to be shown by a test runner as a test of its own. */
export interface DriverProof {
  readonly name: string
  /** Why it cannot be proved with what the subject has; skip it and say so. */
  readonly leftOut?: string
  /** Rejects with an Error that says in a sentence each what was expected and what was seen. */
  prove(): Promise<void>
}

/**
 * The promises of a driver one by one, for a test runner.
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
        if (lack !== undefined) throw new Error(`${proof.name}: this cannot be proved, because ${lack}`)
        const { result, driver } = await examine(proof, subject)
        if (result.outcome === 'broken') throw errorOf(reportOf(driver, [result]))
      },
    }
  })
}

/**
 * Proves that a driver is fit to keep codes and tokens: by itself, between processes, and under a provider that redeems. It takes 2 to
 * 20 seconds, as the storage is fast or slow, needs no test runner, and removes what it writes.
 *
 * @returns what was proved, and what was left out for want of a module or an outage
 * @throws Error that lists every broken promise in sentences; its `cause` is the report
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
    const untried = lackOf(proof, subject) ?? (hung ? 'it was not tried: the driver has stopped answering' : undefined)
    examined.set(proof, untried === undefined ? await examine(proof, subject) : leftOut(proof, untried))
  }
  async function inTurn(some: readonly Proof[]): Promise<void> {
    for (const proof of some) await run(proof)
  }
  const [first, ...others] = proofs
  if (first !== undefined) await run(first)
  // What mostly waits does so beside everything else. A real outage would disturb the others.
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

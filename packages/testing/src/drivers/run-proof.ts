import { type Proof, withProofContext } from './proof-context.ts'
import type { ProofResult } from './report.ts'
import type { DriverSubject } from './subject.ts'

/** A result, and what later proofs need to know. */
export interface ProofRun {
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
export const missingOption = ({ needs }: Proof, subject: DriverSubject): string | undefined =>
  needs !== undefined && subject[needs] === undefined ? missingReasons[needs] : undefined

export const skipProof = ({ name }: Proof, reason: string): ProofRun => ({
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

export async function runProof(proof: Proof, subject: DriverSubject): Promise<ProofRun> {
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

import { onBench } from './bench.ts'
import type { Proof } from './proof.ts'
import type { ProofResult } from './report.ts'
import type { DriverSubject } from './subject.ts'

/** A result, and what later proofs need to know. */
export interface Examined {
  readonly result: ProofResult
  /** An operation hung. */
  readonly hung: boolean
  readonly driver: string | undefined
}

const missing = {
  module: 'the subject has no module for child processes to load',
  outage: 'the subject has no outage option to make the storage unavailable',
}

/** Returns why the subject cannot run the proof; `undefined` when it can. */
export const lackOf = ({ needs }: Proof, subject: DriverSubject): string | undefined =>
  needs !== undefined && subject[needs] === undefined ? missing[needs] : undefined

export const leftOut = ({ name }: Proof, reason: string): Examined => ({
  result: { name, outcome: 'left out', sentences: [reason], seconds: 0 },
  hung: false,
  driver: undefined,
})

/** A driver that folds keys fails one proof in a hundred ways. */
const mostSentences = 8

const shortened = (sentences: readonly string[]): readonly string[] =>
  sentences.length <= mostSentences
    ? sentences
    : [...sentences.slice(0, mostSentences), `and ${sentences.length - mostSentences} more like these`]

/** Runs one proof. */
export async function examine(proof: Proof, subject: DriverSubject): Promise<Examined> {
  const begun = performance.now()
  const { broken, unproved, hung = false, driver } = await onBench(subject, (bench) => proof.examine(bench))
  const seconds = (performance.now() - begun) / 1000
  const ended = (outcome: ProofResult['outcome'], sentences: readonly string[]): Examined => ({
    result: { name: proof.name, outcome, sentences, seconds },
    hung,
    driver,
  })
  if (broken.size > 0) return ended('broken', shortened([...broken]))
  return unproved === undefined ? ended('kept', []) : ended('left out', [unproved])
}

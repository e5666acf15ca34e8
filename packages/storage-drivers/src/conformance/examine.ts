import { onBench } from './bench.ts'
import type { Proof } from './proof.ts'
import type { ProofResult } from './report.ts'
import type { DriverSubject } from './subject.ts'

/** A result, and what the next proofs must know. */
export interface Examined {
  readonly result: ProofResult
  /** An operation never ended. */
  readonly hung: boolean
  readonly driver: string | undefined
}

const missing = {
  module: 'the subject has no module that processes could load',
  outage: 'the subject has no outage: the storage was never really away',
}

/** Why it cannot be proved with what the subject has. */
export const lackOf = ({ needs }: Proof, subject: DriverSubject): string | undefined =>
  needs !== undefined && subject[needs] === undefined ? missing[needs] : undefined

export const leftOut = ({ name }: Proof, reason: string): Examined => ({
  result: { name, outcome: 'left out', sentences: [reason], seconds: 0 },
  hung: false,
  driver: undefined,
})

/** A driver that folds keys breaks one promise in a hundred ways. */
const mostSentences = 8

const shortened = (sentences: readonly string[]): readonly string[] =>
  sentences.length <= mostSentences
    ? sentences
    : [...sentences.slice(0, mostSentences), `and ${sentences.length - mostSentences} more of the kind`]

/** Puts one promise to the test. */
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

// Tests of the kit itself: for each broken promise, the proof of that promise fails.
import { type DriverReport, driverProofs } from '@grantry/testing/drivers'
import { describe, expect, test } from 'vitest'
import type { Broken } from './programs/broken.ts'
import { brokenCommits } from './programs/broken-commits.ts'
import { brokenCounters } from './programs/broken-counters.ts'
import { brokenEntries } from './programs/broken-entries.ts'
import { brokenExpiry } from './programs/broken-expiry.ts'
import { brokenInserts } from './programs/broken-inserts.ts'
import { brokenLives } from './programs/broken-lives.ts'
import { brokenReads } from './programs/broken-reads.ts'
import { brokenValues } from './programs/broken-values.ts'

async function assertReported({ proof, sentence, subject }: Broken): Promise<void> {
  const error = await driverProofs(subject())
    .find(({ name }) => name === proof)
    ?.prove()
    .catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(Error)
  const { message, cause } = error as Error & { cause: DriverReport }
  expect(message).toMatch(/is not safe for codes and tokens:\n- /u)
  expect(message).toContain(`- ${proof}:\n`)
  expect(cause.results.map(({ outcome }) => outcome)).toEqual(['failed'])
  expect(cause.results[0]?.messages.join('\n')).toMatch(sentence)
}

describe('a driver fails', () => {
  const all = [
    ...brokenCommits,
    ...brokenCounters,
    ...brokenEntries,
    ...brokenReads,
    ...brokenInserts,
    ...brokenExpiry,
    ...brokenValues,
    ...brokenLives,
  ]
  const faults = all.map((broken): [string, Broken] => [broken.fault, broken])
  test.concurrent.each(faults)('if %s', async (_, broken) => assertReported(broken))
})

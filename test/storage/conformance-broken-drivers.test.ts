// Tests of the kit itself: for each broken promise, the proof of that promise fails.
import { type DriverReport, proveDriver } from '@grantry/storage-drivers/conformance'
import { describe, expect, test } from 'vitest'
import type { Broken } from './programs/conformance-broken.ts'
import { brokenCounters } from './programs/conformance-broken-counters.ts'
import { brokenExpiry } from './programs/conformance-broken-expiry.ts'
import { brokenInserts } from './programs/conformance-broken-inserts.ts'
import { brokenLives } from './programs/conformance-broken-lives.ts'
import { brokenValues } from './programs/conformance-broken-values.ts'

async function assertReported({ proof, sentence, subject }: Broken): Promise<void> {
  const error = await proveDriver(subject()).then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(Error)
  const { message, cause } = error as Error & { cause: DriverReport }
  expect(message).toMatch(/is not safe for codes and tokens:\n- /u)
  expect(message).toContain(`- ${proof}:\n`)
  const result = cause.results.find(({ name }) => name === proof)
  expect(result?.outcome).toBe('broken')
  expect(result?.sentences.join('\n')).toMatch(sentence)
}

describe('a driver fails', () => {
  const all = [...brokenCounters, ...brokenInserts, ...brokenExpiry, ...brokenValues, ...brokenLives]
  const faults = all.map((broken): [string, Broken] => [broken.fault, broken])
  test.concurrent.each(faults)('if %s', async (_, broken) => assertReported(broken), 120_000)
})

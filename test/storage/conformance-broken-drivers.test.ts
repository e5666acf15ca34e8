// The kit itself: whatever promise a driver breaks, it is the proof of that promise that says so.
import { type DriverReport, proveDriver } from '@grantry/storage-drivers/conformance'
import { describe, expect, test } from 'vitest'
import { brokenDrivers } from './programs/conformance-broken-drivers.ts'

describe('a driver is not fit', () => {
  test.concurrent.each(brokenDrivers)(
    'when $fault',
    async ({ proof, sentence, subject }) => {
      const error = await proveDriver(subject()).then(
        () => undefined,
        (thrown: unknown) => thrown,
      )
      expect(error).toBeInstanceOf(Error)
      const { message, cause } = error as Error & { cause: DriverReport }
      expect(message).toMatch(/is not fit to keep codes and tokens:\n- /u)
      expect(message).toContain(`- ${proof}:\n`)
      const result = cause.results.find(({ name }) => name === proof)
      expect(result?.outcome).toBe('broken')
      expect(result?.sentences.join('\n')).toMatch(sentence)
    },
    120_000,
  )
})

import { describe, expect, test } from 'vitest'
import { fixture } from '../support/fixture.ts'

describe('limits for host functions rejected at start', () => {
  test.each([0, -1, 61, Number.NaN, '5'])('hostTimeLimit %j', async (hostTimeLimit) => {
    await expect(fixture({ hostTimeLimit: hostTimeLimit as number })).rejects.toThrow(
      /hostTimeLimit must be (?:a number of seconds|0\.05 to 60 seconds)/u,
    )
  })

  test.each([0, -1, 1.5, Number.NaN, '5'])('maxHostCalls %j', async (maxHostCalls) => {
    await expect(fixture({ maxHostCalls: maxHostCalls as number })).rejects.toThrow(/maxHostCalls must be/u)
  })
})

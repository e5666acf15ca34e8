import { describe, test } from 'vitest'

/**
 * Like `describe`, but skips the tests and logs what is missing. With `CI=true` they fail instead, so that a build
 * without these tests does not pass.
 */
export function describeWith(missing: string | undefined, name: string, define: () => void): void {
  if (missing !== undefined && process.env.CI === 'true') {
    test(name, () => {
      throw new Error(missing)
    })
    return
  }
  if (missing !== undefined) console.warn(`${name}: skipped. ${missing}`)
  describe.skipIf(missing !== undefined)(name, define)
}

import { describe, test } from 'vitest'

/**
 * As `describe`. When something is missing, the tests are left out with the sentence that says what; in a build (`CI=true`) they fail instead: a build that
 * proves nothing must not be green.
 */
export function describeWith(missing: string | undefined, name: string, define: () => void): void {
  if (missing !== undefined && process.env.CI === 'true') {
    test(name, () => {
      throw new Error(missing)
    })
    return
  }
  if (missing !== undefined) console.warn(`${name}: left out. ${missing}`)
  describe.skipIf(missing !== undefined)(name, define)
}

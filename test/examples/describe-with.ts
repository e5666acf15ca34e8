import { describe, test } from 'vitest'
import { describeSideBySide } from '../support/side-by-side.ts'

/**
 * Like `describeSideBySide`, but skips the tests and logs what is missing. With `CI=true` they fail instead, so that a build
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
  const defineSuite = missing === undefined ? describeSideBySide : describe.skipIf(true)
  defineSuite(name, define)
}

import { describe, test } from 'vitest'
import { describeSideBySide } from './side-by-side.ts'

/**
 * Defines tests that need a program or packages. Without them, the tests are skipped and what is missing is logged. With
 * `CI=true` one test fails instead: a build that proves less than it should must not pass.
 *
 * @param missing what is missing and how to get it; `undefined` if nothing is
 */
export function describeWith(
  missing: string | undefined,
  name: string,
  define: () => void,
  defineSuite: (name: string, define: () => void) => void = describeSideBySide,
): void {
  if (missing === undefined) {
    defineSuite(name, define)
  } else if (process.env.CI === 'true') {
    test(name, () => {
      throw new Error(missing)
    })
  } else {
    console.warn(`${name}: skipped. ${missing}`)
    describe.skipIf(true)(name, define)
  }
}

import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, test } from 'vitest'
import { describeSideBySide } from './side-by-side.ts'

const folder = fileURLToPath(new URL('../../runtimes/', import.meta.url))

/** An executable of one of the packages in `runtimes/`. */
export const runtimeExecutable = (path: string): string => `${folder}node_modules/${path}`

/**
 * Like `describeSideBySide`. Without the runtime the tests are skipped with a message; in CI (`CI=true`) they fail instead,
 * because a build that proves nothing must not be green.
 */
export function describeWithRuntime(name: string, executable: string, define: () => void): void {
  const missing = !existsSync(executable)
  const sentence = `${name} needs what is not installed: npm run runtimes`
  if (missing && process.env.CI === 'true') {
    test(name, () => {
      throw new Error(sentence)
    })
    return
  }
  if (missing) console.warn(`Skipped: ${sentence}`)
  const defineSuite = missing ? describe.skipIf(missing) : describeSideBySide
  defineSuite(name, define)
}

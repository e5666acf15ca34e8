import { describe, test } from 'vitest'
import { redisMissing } from './redis-server.ts'

/**
 * Like `describe`. Without redis-server the tests are skipped with a message; in CI (`CI=true`) they fail instead,
 * because a build that proves nothing must not be green.
 */
export function describeWithRedis(name: string, define: () => void): void {
  if (redisMissing !== undefined && process.env.CI === 'true') {
    test(name, () => {
      throw new Error(redisMissing)
    })
    return
  }
  if (redisMissing !== undefined) console.warn(`${name}: skipped. ${redisMissing}`)
  describe.skipIf(redisMissing !== undefined)(name, define)
}

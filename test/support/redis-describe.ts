import { describe, test } from 'vitest'
import { redisMissing } from './redis-server.ts'

/**
 * As `describe`. Where redis-server is missing, the tests are left out with a sentence that says so; in a build (`CI=true`) they fail
 * instead: a build that proves nothing must not be green.
 */
export function describeWithRedis(name: string, define: () => void): void {
  if (redisMissing !== undefined && process.env.CI === 'true') {
    test(name, () => {
      throw new Error(redisMissing)
    })
    return
  }
  if (redisMissing !== undefined) console.warn(`${name}: left out. ${redisMissing}`)
  describe.skipIf(redisMissing !== undefined)(name, define)
}

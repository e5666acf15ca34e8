import { describe } from 'vitest'
import { describeWith } from './describe-with.ts'
import { redisMissing } from './redis-server.ts'

/** Like `describe`, for tests that need redis-server. */
export const describeWithRedis = (name: string, define: () => void): void =>
  describeWith(redisMissing, name, define, describe)

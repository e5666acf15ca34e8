/**
 * Attack: as in test/attacks/store-and-spent-token.test.ts, with the append-only file of Redis, which keeps what has
 * expired until it is rewritten.
 */

import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { redisDriver } from '@grantry/storage-drivers/redis'
import { expect, test } from 'vitest'
import { describeWithRedis } from '../support/redis-describe.ts'
import { startRedis } from '../support/redis-server.ts'
import { foundIn, refreshedChain } from '../support/spent-chain.ts'

describeWithRedis('the append-only file of Redis', () => {
  test('leads from no spent refresh token to another one', async () => {
    const redis = await startRedis({ arguments: ['--appendonly', 'yes', '--appendfsync', 'always'] })
    const storage = redisDriver({ url: redis.url })
    try {
      const chain = await refreshedChain(storage)
      const [, directory] = (await redis.command('CONFIG', 'GET', 'dir')) as readonly [string, string]
      const files = await readdir(join(directory, 'appendonlydir'))
      const contents = await Promise.all(files.map((file) => readFile(join(directory, 'appendonlydir', file), 'utf8')))
      const copy = contents.join('\n')
      expect(copy).toContain('"nonce')
      expect(foundIn(chain, copy)).toEqual([])
    } finally {
      await storage.dispose?.()
      await redis.stop()
    }
  })
})

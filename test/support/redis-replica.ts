import { Redis } from 'ioredis'
import { pause } from './pause.ts'
import { type RedisServer, startRedis } from './redis-server.ts'

/** Milliseconds. */
const timeLimit = 60_000

/** A replica that receives the writes of its primary immediately. */
export async function startReplica(primary: RedisServer): Promise<RedisServer> {
  const replica = await startRedis({ arguments: ['--replicaof', '127.0.0.1', String(primary.port)] })
  const client = new Redis(primary.url)
  try {
    const deadline = Date.now() + timeLimit
    // A new replica counts as in sync with an empty stream, and gets the stream up to a second later.
    while (String(await client.info('replication')).includes('connected_slaves:0')) {
      if (Date.now() > deadline) throw new Error('The replica has not connected')
      await pause(20)
    }
    const results = await client
      .pipeline([
        ['set', 'replica', 'x', 'PX', 1],
        ['wait', 1, timeLimit],
      ])
      .exec()
    if (Number(results?.[1]?.[1]) < 1) throw new Error(`The replica has not caught up within ${timeLimit} ms`)
    return replica
  } catch (error) {
    await replica.stop()
    throw error
  } finally {
    client.disconnect()
  }
}

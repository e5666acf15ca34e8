import type { Redis, RedisOptions } from 'ioredis'
import type { Connection } from './connection.ts'
import type { RedisClient } from './own-client.ts'
import { primariesOf } from './primaries.ts'

interface Replicas {
  readonly count: number
  /** Milliseconds to wait for them. */
  readonly patience: number
}

async function assertKeepsAll(connection: Connection, primary: Redis, where: string): Promise<void> {
  let info: string
  try {
    info = await connection.run(() => primary.info('memory'))
  } catch (error) {
    throw new Error(`${(error as Error).message}; INFO memory must say that maxmemory-policy is noeviction`)
  }
  const policy = /^maxmemory_policy:(\S+)/mu.exec(info)?.[1]
  if (policy === 'noeviction') return
  throw new Error(
    policy === undefined
      ? `${where} does not say its maxmemory-policy in INFO memory; it must be noeviction`
      : `${where} has the maxmemory-policy ${policy}: an evicted marker would let a code be redeemed twice; set maxmemory-policy noeviction`,
  )
}

async function assertReplicas(connection: Connection, primary: Redis, where: string, wanted: Replicas): Promise<void> {
  const found = Number(await connection.run(() => primary.wait(wanted.count, wanted.patience)))
  if (found >= wanted.count) return
  throw new Error(
    `${where} has ${found} replicas in step, and waitReplicas is ${wanted.count}; attach replicas, or wait for fewer`,
  )
}

/** Rejects with one sentence when the servers would forget what must not be forgotten. */
export async function assertFit(connection: Connection, where: string, replicas: Replicas): Promise<void> {
  const primaries = await primariesOf(connection)
  await Promise.all(
    primaries.map(async (primary) => {
      const { host, port } = primary.options
      const place = connection.client.isCluster ? `${where} (${host}:${port})` : where
      await assertKeepsAll(connection, primary, place)
      if (replicas.count > 0) await assertReplicas(connection, primary, place, replicas)
    }),
  )
}

/** @throws TypeError when a client that was given would break a promise of the driver. */
export function assertClient(client: RedisClient, waitReplicas: number): void {
  const { keyPrefix } = client.options
  if (keyPrefix) {
    throw new TypeError(
      'redisDriver(): the client has a keyPrefix, which SCAN does not know; give redisDriver a prefix',
    )
  }
  if ('scaleReads' in client.options && client.options.scaleReads !== 'master') {
    throw new TypeError(
      'redisDriver(): the client reads from replicas, which do not know yet what was just revoked; set scaleReads to master',
    )
  }
  const { options } = client
  const { autoResendUnfulfilledCommands } =
    'scaleReads' in options ? (options.redisOptions ?? {}) : (options as RedisOptions)
  if (waitReplicas > 0 && autoResendUnfulfilledCommands !== false) {
    throw new TypeError(
      'redisDriver(): with waitReplicas the client needs autoResendUnfulfilledCommands: false; a WAIT that is sent again to a new primary would confirm a write that was lost',
    )
  }
}

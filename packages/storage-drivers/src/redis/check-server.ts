import type { Redis, RedisOptions } from 'ioredis'
import type { RedisClient } from './client-factory.ts'
import { type Connection, primariesOf } from './redis-connection.ts'

interface Replicas {
  readonly count: number
  /** Milliseconds to wait for them. */
  readonly timeout: number
}

async function assertNoEviction(connection: Connection, primary: Redis, where: string): Promise<void> {
  let info: string
  try {
    info = await connection.run(() => primary.info('memory'))
  } catch (error) {
    throw new Error(
      `${(error as Error).message}; the driver needs INFO memory to check that maxmemory-policy is noeviction`,
    )
  }
  const policy = /^maxmemory_policy:(\S+)/mu.exec(info)?.[1]
  if (policy === 'noeviction') return
  throw new Error(
    policy === undefined
      ? `${where} does not report maxmemory-policy in INFO memory; it must be noeviction`
      : `${where} has maxmemory-policy ${policy}, which can evict the marker of a redeemed code, so that the code works twice; set maxmemory-policy noeviction`,
  )
}

async function assertReplicas(connection: Connection, primary: Redis, where: string, wanted: Replicas): Promise<void> {
  const inSync = Number(await connection.run(() => primary.wait(wanted.count, wanted.timeout)))
  if (inSync >= wanted.count) return
  throw new Error(
    `${where} has ${inSync} replicas in sync, but waitReplicas is ${wanted.count}; attach replicas or lower waitReplicas`,
  )
}

/** Rejects when a primary can evict items or has too few replicas. */
export async function assertServer(connection: Connection, where: string, replicas: Replicas): Promise<void> {
  const primaries = await primariesOf(connection)
  await Promise.all(
    primaries.map(async (primary) => {
      const { host, port } = primary.options
      const name = connection.client.isCluster ? `${where} (${host}:${port})` : where
      await assertNoEviction(connection, primary, name)
      if (replicas.count > 0) await assertReplicas(connection, primary, name, replicas)
    }),
  )
}

/** @throws TypeError when the options of the caller's client are unsafe. */
export function assertClientOptions({ options }: RedisClient): void {
  if (options.keyPrefix) {
    throw new TypeError(
      'redisDriver(): the client has a keyPrefix, which SCAN ignores; remove it and set the prefix option of redisDriver',
    )
  }
  const isCluster = 'scaleReads' in options
  if (isCluster && options.scaleReads !== 'master') {
    throw new TypeError(
      'redisDriver(): the client reads from replicas, which may not have the latest revocations yet; set scaleReads to master',
    )
  }
  // With waitReplicas, a WAIT that is sent again to a new primary would also confirm a lost write.
  const reason = 'a command that is sent again after a lost reply can undo a later revocation'
  const { autoResendUnfulfilledCommands } = isCluster ? (options.redisOptions ?? {}) : (options as RedisOptions)
  if (autoResendUnfulfilledCommands !== false) {
    const option = 'autoResendUnfulfilledCommands: false'
    const needed = isCluster ? `redisOptions: { ${option} }` : option
    throw new TypeError(`redisDriver(): the client needs ${needed}; ${reason}`)
  }
  if (isCluster && options.retryDelayOnFailover !== 0) {
    throw new TypeError(`redisDriver(): the client needs retryDelayOnFailover: 0; ${reason}`)
  }
}

// Module for child processes of the conformance kit: the Redis driver on the server or cluster in the query.
import type { AtomicDriver } from '@grantry/core'
import { redisDriver } from '@grantry/storage-drivers/redis'

export function open(): AtomicDriver {
  const query = new URL(import.meta.url).searchParams
  const cluster = query.get('cluster')
  return cluster === null ? redisDriver({ url: query.get('url') ?? '' }) : redisDriver({ cluster: cluster.split(',') })
}

// What a child process of the conformance kit loads: the Redis driver on the server, or the cluster, that the query names.
import type { AtomicDriver } from '@grantry/core'
import { redisDriver } from '@grantry/storage-drivers/redis'

export function open(): AtomicDriver {
  const query = new URL(import.meta.url).searchParams
  const cluster = query.get('cluster')
  return cluster === null ? redisDriver({ url: query.get('url') ?? '' }) : redisDriver({ cluster: cluster.split(',') })
}

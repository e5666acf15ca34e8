import { afterAll } from 'vitest'
import { type RedisProxy, startProxy } from './redis-proxy.ts'
import { startReplica } from './redis-replica.ts'
import { type Sentinel, type SentinelOptions, startSentinel } from './redis-sentinel.ts'
import { type RedisServer, type RedisServerOptions, startRedis } from './redis-server.ts'

/** Starts servers that end after the last test, so that concurrent tests can have their own. */
export interface RedisServers {
  start(options?: RedisServerOptions): Promise<RedisServer>
  replicaOf(primary: RedisServer): Promise<RedisServer>
  sentinelOf(primary: RedisServer, options?: SentinelOptions): Promise<Sentinel>
  proxyTo(server: RedisServer): Promise<RedisProxy>
}

export function redisServers(): RedisServers {
  const started: { stop(): Promise<void> }[] = []
  afterAll(() => Promise.all(started.splice(0).map((server) => server.stop())))
  async function kept<T extends { stop(): Promise<void> }>(starting: Promise<T>): Promise<T> {
    const server = await starting
    started.push(server)
    return server
  }
  return {
    start: (options) => kept(startRedis(options)),
    replicaOf: (primary) => kept(startReplica(primary)),
    sentinelOf: (primary, options) => kept(startSentinel(primary, options)),
    proxyTo: (server) => kept(startProxy(server)),
  }
}

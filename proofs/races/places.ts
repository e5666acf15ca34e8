import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPostgresql } from '../../test/support/postgresql-server.ts'
import { startRedisCluster } from '../../test/support/redis-cluster.ts'
import { startRedis } from '../../test/support/redis-server.ts'
import type { StoragePlace } from './orders.ts'

export interface OpenPlace {
  readonly place: StoragePlace
  close(): Promise<void>
}

/** The storages on which single use is proved, and the number of processes. */
export const places = {
  memory: {
    processes: 1,
    open: async (): Promise<OpenPlace> => ({ place: { kind: 'memory' }, close: async () => {} }),
  },
  filesystem: {
    processes: 4,
    async open(): Promise<OpenPlace> {
      const directory = await mkdtemp(join(tmpdir(), 'grantry-races-'))
      return {
        place: { kind: 'filesystem', directory },
        close: () => rm(directory, { recursive: true, force: true }),
      }
    },
  },
  sqlite: {
    processes: 4,
    async open(): Promise<OpenPlace> {
      const directory = await mkdtemp(join(tmpdir(), 'grantry-races-'))
      return {
        place: { kind: 'sqlite', file: join(directory, 'grantry.db') },
        close: () => rm(directory, { recursive: true, force: true }),
      }
    },
  },
  redis: {
    processes: 4,
    async open(): Promise<OpenPlace> {
      const server = await startRedis()
      return { place: { kind: 'redis', url: server.url }, close: () => server.stop() }
    },
  },
  postgresql: {
    processes: 4,
    async open(): Promise<OpenPlace> {
      const server = await startPostgresql()
      return { place: { kind: 'postgresql', url: server.url }, close: () => server.stop() }
    },
  },
  cluster: {
    processes: 4,
    async open(): Promise<OpenPlace> {
      const cluster = await startRedisCluster(3)
      return { place: { kind: 'cluster', urls: cluster.urls }, close: () => cluster.stop() }
    },
  },
} as const
export type PlaceName = keyof typeof places

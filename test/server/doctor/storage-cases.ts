import { type FindingCase, healthy } from './configurations.ts'

/** The storage, as in `check-storage.ts`. */
export const storageCases: readonly FindingCase[] = [
  [
    'memory with a public issuer',
    { ...healthy, storage: { driver: 'memory' } },
    { id: 'store-forgets', where: 'storage.driver' },
  ],
  [
    'filesystem without fsync',
    { ...healthy, storage: { driver: 'filesystem', directory: './data', fsync: false } },
    { id: 'store-without-fsync', where: 'storage.fsync' },
  ],
  [
    'SQLite without a flush',
    { ...healthy, storage: { driver: 'sqlite', file: './data/grantry.db', synchronous: 'normal' } },
    { id: 'store-without-fsync', where: 'storage.synchronous' },
  ],
  [
    'an unreachable PostgreSQL that need not be durable',
    {
      ...healthy,
      storage: {
        driver: 'postgresql',
        url: 'postgresql://grantry@127.0.0.1:1/id',
        durability: 'relaxed',
        operationTimeout: 0.1,
      },
    },
    { id: 'store-without-fsync', where: 'storage.durability' },
  ],
  [
    'Sentinels without waitReplicas',
    {
      ...healthy,
      storage: { driver: 'redis', sentinels: [{ host: '127.0.0.1', port: 1 }], name: 'tokens', operationTimeout: 0.1 },
    },
    { id: 'store-without-replicas', where: 'storage.waitReplicas' },
  ],
  [
    'an unreachable Redis',
    { ...healthy, storage: { driver: 'redis', url: 'redis://127.0.0.1:1', operationTimeout: 0.1 } },
    { id: 'store-unusable', severity: 'error', where: 'storage' },
  ],
  [
    'a directory of another user',
    { ...healthy, storage: { driver: 'filesystem', directory: '.' } },
    { id: 'store-unusable', severity: 'error' },
  ],
]

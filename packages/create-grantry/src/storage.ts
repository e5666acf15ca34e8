import type { Part } from './part.ts'
import type { Answers } from './questions.ts'

const driver = (module: string, name: string, options: string, more: Partial<Part> = {}): Part => ({
  imports: { [`@grantry/storage-drivers/${module}`]: [name] },
  code: `${name}(${options})`,
  ...more,
  packages: ['@grantry/storage-drivers', ...(more.packages ?? [])],
})

/** The storage of codes, tokens, sessions and keys. */
export const storages: Readonly<Record<Answers['storage'], Part>> = {
  files: driver('filesystem', 'filesystemDriver', "{ directory: './data' }"),
  memory: driver('memory', 'memoryDriver', ''),
  // Node.js 20 has no SQLite of its own.
  sqlite: driver('sqlite', 'sqliteDriver', "{ file: './data/grantry.db' }", { packages: ['libsql'] }),
  postgresql: driver('postgresql', 'postgresqlDriver', "{ url: required(env, 'DATABASE_URL') }", {
    settings: { DATABASE_URL: 'postgresql://grantry:the-password@127.0.0.1:5432/grantry' },
    packages: ['pg'],
  }),
  redis: driver('redis', 'redisDriver', "{ url: required(env, 'REDIS_URL') }", {
    settings: { REDIS_URL: 'redis://127.0.0.1:6379' },
    packages: ['ioredis'],
  }),
  // The binding comes with the requests.
  d1: { code: '', packages: ['@grantry/storage-drivers'] },
}

import { resolve } from 'node:path'
import { configurationObject } from '@grantry/core'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import * as v from 'valibot'
import { numeric } from '../../numeric.ts'
import { readAuthority } from '../authority-file.ts'
import { passwordEntries, passwordOf } from '../password-file.ts'
import { inItsSpace } from './configured-space.ts'
import type { ConfiguredStorage } from './configured-storage.ts'
import { operationTimeout, prefix, tableName, text } from './fields.ts'
import { configuredRedis, redisSchema } from './redis.ts'

const sqliteSchema = configurationObject({
  driver: v.literal('sqlite'),
  /** The path of the database, from the configuration file. The driver creates it, with its directory. */
  file: v.optional(text('the path of a file'), './data/grantry.db'),
  /** Of the name of the table. */
  prefix,
  /** `full`: a redemption survives a power cut. `normal`: it only survives the process. */
  synchronous: v.optional(v.picklist(['full', 'normal'], 'must be "full" or "normal"'), 'full'),
  /** Seconds after which a write fails that waits for another process. */
  operationTimeout,
})

/** Loads the engine only if it is needed. */
async function configuredSqlite(
  { file, prefix, synchronous, operationTimeout }: v.InferOutput<typeof sqliteSchema>,
  directory: string,
): Promise<ConfiguredStorage> {
  const { sqliteDriver } = await import('@grantry/storage-drivers/sqlite')
  const path = resolve(directory, file)
  const note =
    synchronous === 'full' ? '' : ', without a flush for each write: a power failure can lose the last seconds'
  return {
    driver: sqliteDriver({ file: path, prefix, synchronous, operationTimeout }),
    description: `sqlite: ${path}${prefix === 'grantry' ? '' : `, prefix ${prefix}`}${note}`,
  }
}

const form =
  'must be a URL such as postgresql://grantry:password@127.0.0.1:5432/grantry; percent-encode special characters of the password, or set storage.password'

const postgresqlSchema = configurationObject({
  driver: v.literal('postgresql'),
  /** Such as `postgresql://grantry@db.example.com/identity`, with `?sslmode=verify-full` for TLS. */
  url: v.pipe(
    v.string(form),
    v.check((url) => URL.canParse(url) && /^postgres(?:ql)?:$/u.test(new URL(url).protocol), form),
  ),
  ...passwordEntries,
  /** A file with the certificates of a private authority, which turns TLS on. */
  ca: v.optional(text('the path of a file with certificates')),
  /** The schema of the table. */
  schema: tableName('public'),
  /** Of the name of the table. */
  prefix,
  /** Connections of each process. */
  maxConnections: v.optional(
    v.pipe(
      numeric('must be a number'),
      v.integer('must be a whole number'),
      v.minValue(1, 'must be 1 to 1000'),
      v.maxValue(1000, 'must be 1 to 1000'),
    ),
    10,
  ),
  /** Seconds after which an operation fails, with the time to connect. */
  operationTimeout,
  /** `false` behind a PgBouncer in transaction mode. */
  preparedStatements: v.optional(v.boolean('must be true or false'), true),
  /** Whether the server creates its table. */
  migrate: v.optional(v.boolean('must be true or false'), true),
  /** `relaxed` accepts a database that can lose confirmed writes in a crash. */
  durability: v.optional(v.picklist(['full', 'relaxed'], 'must be "full" or "relaxed"'), 'full'),
})

type PostgresqlConfiguration = v.InferOutput<typeof postgresqlSchema>

/** Loads the client of PostgreSQL only if it is needed. */
async function configuredPostgresql(
  { driver: _, ca, password: inline, passwordFile, ...options }: PostgresqlConfiguration,
  directory: string,
): Promise<ConfiguredStorage> {
  const { postgresqlDriver } = await import('@grantry/storage-drivers/postgresql')
  const { host, pathname } = new URL(options.url)
  const note = options.durability === 'full' ? '' : ', where a crash can lose the last writes'
  const password = passwordOf({ password: inline, passwordFile }, directory, 'storage')
  const tls = ca === undefined ? undefined : { ca: await readAuthority(ca, directory, 'storage.ca') }
  return {
    driver: postgresqlDriver({ ...options, connection: { password, tls } }),
    description: `postgresql: ${host}${pathname}, table ${options.schema}.${options.prefix}_items${note}`,
  }
}

const filesystemSchema = configurationObject({
  driver: v.literal('filesystem'),
  /** On a local disk, and readable for the user of the server only. Relative to the configuration file. */
  directory: v.optional(text('the path of a directory'), './.grantry'),
  /** `false`: a redemption survives the process, but no power cut. */
  fsync: v.optional(v.boolean('must be true or false'), true),
})

async function configuredFilesystem(
  storage: v.InferOutput<typeof filesystemSchema>,
  directory: string,
): Promise<ConfiguredStorage> {
  const { filesystemDriver } = await import('@grantry/storage-drivers/filesystem')
  const path = resolve(directory, storage.directory)
  const note = storage.fsync ? '' : ', without fsync: a power failure can lose the last seconds'
  return {
    driver: filesystemDriver({ directory: path, fsync: storage.fsync }),
    description: `filesystem: ${path}${note}`,
  }
}

const memorySchema = configurationObject({ driver: v.literal('memory') })

export const schemas = {
  memory: memorySchema,
  filesystem: filesystemSchema,
  sqlite: sqliteSchema,
  postgresql: postgresqlSchema,
  redis: redisSchema,
} as const
const objectSchema = configurationObject({})
const drivers = Object.keys(schemas) as readonly (keyof typeof schemas)[]
// Accepts any settings, because only the name of an unknown driver is wrong.
const unknownDriver = v.looseObject(
  {
    driver: v.picklist(
      drivers,
      `must be one of ${drivers.join(', ')}; for another store, write a driver and embed the library (docs/guides/custom-driver.md)`,
    ),
  },
  ({ input }) =>
    input === undefined
      ? `is required: one of ${drivers.join(', ')}`
      : (v.safeParse(objectSchema, input).issues?.[0].message ?? ''),
)

type StorageSchema = (typeof schemas)[keyof typeof schemas]
export type StorageInput = v.InferInput<StorageSchema>
export type StorageConfiguration = v.InferOutput<StorageSchema>

/** Chosen by the name of the driver. The errors of a union would not name the path. */
export const storageSchema: v.GenericSchema<StorageInput, StorageConfiguration> = v.lazy((storage) => {
  const driver = (storage as { readonly driver?: unknown } | null)?.driver
  const known = drivers.find((name) => name === driver)
  return known === undefined ? unknownDriver : schemas[known]
}) as v.GenericSchema<StorageInput, StorageConfiguration>

/** Creates the configured driver, or that of a part of the storage. @param directory that of the configuration, for relative paths */
export async function configuredStorage(storage: StorageConfiguration, directory: string): Promise<ConfiguredStorage> {
  return inItsSpace(storage, await wholeStorage(storage, directory))
}

async function wholeStorage(storage: StorageConfiguration, directory: string): Promise<ConfiguredStorage> {
  switch (storage.driver) {
    case 'memory':
      return { driver: memoryDriver(), description: 'memory: codes and tokens are lost when this process ends' }
    case 'filesystem':
      return configuredFilesystem(storage, directory)
    case 'sqlite':
      return configuredSqlite(storage, directory)
    case 'postgresql':
      return configuredPostgresql(storage, directory)
    case 'redis':
      return configuredRedis(storage, directory)
  }
}

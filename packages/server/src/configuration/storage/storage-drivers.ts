import { configurationObject } from '@grantry/core'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import * as v from 'valibot'
import { inItsSpace } from './configured-space.ts'
import type { ConfiguredStorage } from './configured-storage.ts'
import { configuredFilesystem, filesystemSchema } from './filesystem.ts'
import { configuredPostgresql, postgresqlSchema } from './postgresql.ts'
import { configuredRedis, redisSchema } from './redis.ts'
import { configuredSqlite, sqliteSchema } from './sqlite.ts'

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
// Loose: the settings of an unknown driver are not wrong, its name is.
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

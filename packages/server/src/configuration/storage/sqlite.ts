import { resolve } from 'node:path'
import { configurationObject } from '@grantry/core'
import * as v from 'valibot'
import type { ConfiguredStorage } from './configured-storage.ts'
import { operationTimeout, prefix, text } from './fields.ts'

export const sqliteSchema = configurationObject({
  driver: v.literal('sqlite'),
  file: v.optional(text('the path of a file'), './data/grantry.db'),
  prefix,
  synchronous: v.optional(v.picklist(['full', 'normal'], 'must be "full" or "normal"'), 'full'),
  operationTimeout,
})

/** Loads the engine only if it is needed. */
export async function configuredSqlite(
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

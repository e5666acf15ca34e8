import type { PostgresqlDriver } from '@grantry/storage-drivers/postgresql'
import { configuredStorage } from '../configuration/storage/storage-drivers.ts'
import { errorInFile } from '../error-message.ts'
import { requireConfiguration } from '../opening/open-configuration.ts'

export interface StorageMigrateArguments {
  readonly config?: string
  readonly print?: boolean
}

/** Runs `grantry storage migrate`. Returns what to print: the SQL, or what was done. */
export async function storageMigrateCommand({ config, print = false }: StorageMigrateArguments): Promise<string> {
  const { configuration, directory, file } = await requireConfiguration(config)
  const { storage } = configuration
  if (storage.driver !== 'postgresql') {
    return `Nothing to do: the storage ${storage.driver} creates what it needs by itself.\n`
  }
  if (print) {
    const { postgresqlMigration } = await import('@grantry/storage-drivers/postgresql')
    return postgresqlMigration(storage)
  }
  const { driver, description } = await configuredStorage({ ...storage, migrate: true }, directory)
  try {
    await driver.open?.()
    await (driver as Partial<PostgresqlDriver>).migrate?.()
    return `The table is ready (${description}).\n`
  } catch (cause) {
    throw errorInFile(cause, file)
  } finally {
    await driver.dispose?.()
  }
}

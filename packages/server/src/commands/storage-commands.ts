import { resolve } from 'node:path'
import { type RecoverCounts, recoverStorage } from '@grantry/core'
import type { PostgresqlDriver } from '@grantry/storage-drivers/postgresql'
import type { Command } from 'commander'
import { keysAreStored } from '../configuration/configured-keys.ts'
import { configuredStorage } from '../configuration/storage/storage-drivers.ts'
import { errorInFile, errorMessage } from '../error-message.ts'
import { configOption } from '../opening/command-options.ts'
import { requireConfiguration } from '../opening/open-configuration.ts'
import { progressBar } from './progress-bar.ts'
import { number, openListed, type StorageCopyArguments, storageCopyCommand } from './storage-copy.ts'

interface StorageRecoverArguments {
  readonly config?: string
  readonly dryRun?: boolean
  readonly json?: boolean
}

const fixedKeys =
  'The signing keys are in the configuration: replace them before you start the service: a JWT that was revoked after the backup is valid until it expires.\n'

function resultText({ read, removed }: RecoverCounts, dryRun: boolean, hasFixedKeys: boolean): string {
  const counted = `Read ${number(read)} items: ${number(removed)} ${dryRun ? 'to be ' : ''}removed.\n`
  if (dryRun) return `${counted}Nothing was removed.\n`
  return `${counted}${hasFixedKeys ? fixedKeys : ''}The storage is recovered: all users sign in again. Changes of accounts since the backup are lost: repeat them (docs/guides/deployment.md).\n`
}

/** Runs `grantry storage recover`, for a storage that was restored from a backup. Returns what to print. */
async function storageRecoverCommand(options: StorageRecoverArguments): Promise<string> {
  const { dryRun = false, json = false } = options
  const loaded = await requireConfiguration(options.config)
  const { driver, description } = await openListed(loaded, 'there is nothing to recover')
  try {
    await driver.open?.()
    const bar = progressBar(process.stderr, await driver.countItems())
    process.stderr.write(`storage  ${description}\n`)
    const onProgress = ({ read }: RecoverCounts): void => bar.show('recover', read)
    const counts = await recoverStorage({ storage: driver, dryRun, onProgress }).finally(bar.end)
    if (json) return `${JSON.stringify({ ...counts, dryRun })}\n`
    return resultText(counts, dryRun, !keysAreStored(loaded.configuration.keys))
  } catch (cause) {
    throw new Error(`storage recover of ${loaded.file}: ${errorMessage(cause)}`, { cause })
  } finally {
    await driver.dispose?.()
  }
}

interface StorageMigrateArguments {
  readonly config?: string
  readonly print?: boolean
}

/** Runs `grantry storage migrate`. Returns what to print: the SQL, or what was done. */
async function storageMigrateCommand({ config, print = false }: StorageMigrateArguments): Promise<string> {
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

const others = {
  memory: 'which only the server process can access',
  filesystem: 'which is a directory: copy it while the servers are stopped',
  postgresql: 'use pg_dump, or the backups of your database',
  redis: 'use the snapshots of Redis',
} as const

/** Runs `grantry backup`: copies a SQLite file that servers use. */
async function backupCommand(target: string, { config }: { readonly config?: string }): Promise<string> {
  const { configuration, directory, file } = await requireConfiguration(config)
  const { storage } = configuration
  if (storage.driver !== 'sqlite') {
    throw new TypeError(`${file}: storage.driver is ${storage.driver}, ${others[storage.driver]}`)
  }
  const { driver, description } = await configuredStorage(storage, directory)
  const { backup } = driver as { readonly backup?: (file: string) => Promise<void> }
  try {
    await driver.open?.()
    await backup?.(resolve(target))
    return `Wrote ${resolve(target)} (${description}). It contains the signing keys: keep it as secret as the storage.\n`
  } catch (cause) {
    throw new Error(`${file}: ${errorMessage(cause)}`, { cause })
  } finally {
    await driver.dispose?.()
  }
}

/** Adds `grantry storage` and `grantry backup`. */
export function addStorageCommands(grantry: Command): void {
  grantry
    .command('backup')
    .argument('<file>', 'a new file')
    .description('copy the SQLite file of the storage while servers use it')
    .option(...configOption)
    .action(async (file: string, options: { readonly config?: string }) => {
      process.stdout.write(await backupCommand(file, options))
    })
  const storage = grantry.command('storage').description('prepare and move the storage')
  const [, configDescription] = configOption
  storage
    .command('migrate')
    .description('create or update the table in the database; can be repeated while the service runs')
    .option(...configOption)
    .option('--print', 'only print the SQL, to run it as a user that may create tables')
    .action(async (options: StorageMigrateArguments) => {
      process.stdout.write(await storageMigrateCommand(options))
    })
  storage
    .command('copy')
    .description(
      'copy all items to another storage; can be repeated and continued; run it while the service runs, stop the service, then run it with --final',
    )
    .option('--from <file>', configDescription)
    .requiredOption('--to <file>', 'configuration file with the new storage')
    .option('--final', 'complete the copy: verify it, and refuse to copy into the same storage again')
    .option('--dry-run', 'only count the items to be written and removed')
    .option('--json', 'print JSON')
    .action(async (options: StorageCopyArguments) => {
      process.stdout.write(await storageCopyCommand(options))
    })
  storage
    .command('recover')
    .description(
      'after restoring a backup, while no server runs: keep accounts, clients and the audit trail, and remove codes, tokens, sessions and signing keys; can be repeated',
    )
    .option(...configOption)
    .option('--dry-run', 'only count the items to be removed')
    .option('--json', 'print JSON')
    .action(async (options: StorageRecoverArguments) => {
      process.stdout.write(await storageRecoverCommand(options))
    })
}

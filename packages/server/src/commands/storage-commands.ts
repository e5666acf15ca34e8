import type { Command } from 'commander'
import { configOption } from '../opening/open-configuration.ts'
import { backupCommand } from './backup.ts'
import { type StorageCopyArguments, storageCopyCommand } from './storage-copy.ts'
import { type StorageMigrateArguments, storageMigrateCommand } from './storage-migrate.ts'
import { type StorageRecoverArguments, storageRecoverCommand } from './storage-recover.ts'

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

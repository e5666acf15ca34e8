import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { sqliteDriver } from '@grantry/storage-drivers/sqlite'
import { type Examination, examine } from './whole-records.ts'

/** A store to torture: how a server finds it, and how it is read from outside. */
export interface TorturedStore {
  /** `storage` of the server's configuration. */
  readonly configuration: Readonly<Record<string, unknown>>
  /** Reads all items. Only while no server runs. */
  examine(): Promise<Examination>
}

/**
 * Only items under `items` count as stored: a killed process leaves unfinished drafts in `tmp`, which are never read.
 */
function* filesOf(directory: string): Generator<readonly [string, string]> {
  for (const entry of readdirSync(join(directory, 'items'), { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    if (!entry.isDirectory()) yield [relative(directory, path), readFileSync(path, 'utf8')]
  }
}

/** @param directory its own; created by the servers. */
export const filesystemStore = (directory: string): TorturedStore => ({
  configuration: { driver: 'filesystem', directory },
  examine: async () => examine(filesOf(directory)),
})

async function examineFile(file: string): Promise<Examination> {
  const driver = sqliteDriver({ file })
  const values: [string, string][] = []
  const immortal: string[] = []
  try {
    for await (const items of driver.listItems()) {
      for (const { key, value, endsAt } of items) {
        values.push([key, value])
        if (endsAt === Number.POSITIVE_INFINITY) immortal.push(`${key}: has no expiry`)
      }
    }
  } finally {
    await driver.dispose()
  }
  const { records, broken } = examine(values)
  return { records, broken: [...broken, ...immortal] }
}

/** @param directory its own; created by the servers. */
export const sqliteStore = (directory: string): TorturedStore => {
  const file = join(directory, 'grantry.db')
  return { configuration: { driver: 'sqlite', file }, examine: () => examineFile(file) }
}

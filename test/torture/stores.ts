import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { type Examination, examine } from './whole-records.ts'

/** A store to torture: how a server is told of it, and how it is looked at from outside. */
export interface TorturedStore {
  /** `storage` of the server's configuration. */
  readonly configuration: Readonly<Record<string, unknown>>
  /** Reads everything that is there. Only when no server runs. */
  examine(): Promise<Examination>
}

/** Only what is under `items` counts as stored: a process that is killed leaves unfinished drafts in `tmp`, which nobody reads. */
function* filesOf(directory: string): Generator<readonly [string, string]> {
  for (const entry of readdirSync(join(directory, 'items'), { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    if (!entry.isDirectory()) yield [relative(directory, path), readFileSync(path, 'utf8')]
  }
}

/** @param directory of its own; made by the servers. */
export const filesystemStore = (directory: string): TorturedStore => ({
  configuration: { driver: 'filesystem', directory },
  examine: async () => examine(filesOf(directory)),
})

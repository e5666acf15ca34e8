import { readdirSync } from 'node:fs'
import { posix } from 'node:path'

/** Folders that tests, builds and installations write. Other tests write and remove some while this one reads. */
const written = new Set(['node_modules', 'dist', '.generated'])

/** Returns the paths of the files in a folder and below, each with the folder in front. */
export function filesBelow(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = posix.join(folder, entry.name)
    if (!entry.isDirectory()) return [path]
    return written.has(entry.name) ? [] : filesBelow(path)
  })
}

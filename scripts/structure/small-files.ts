import { importsOf } from '../../test/architecture/imports-of.ts'
import type { Source } from '../../test/architecture/source-files.ts'

/** Lines below which a file with one user is hardly worth a name of its own. */
const small = 60
/** What the source rules allow. */
const largest = 250

const folderOf = (path: string): string => path.slice(0, path.lastIndexOf('/'))
const linesOf = ({ text }: Source): number => text.split('\n').length - 1

/** Whether a file loads another one when it needs it, which has to be a file for that. */
const loadsOnDemand = ({ text }: Source, path: string): boolean =>
  text.includes(`import('.${path.slice(path.lastIndexOf('/'))}')`)

/** Returns the small files that only one other file imports, in the same folder, which has room for them. */
export function smallFiles(sources: readonly Source[]): readonly string[] {
  const byPath = new Map(sources.map((source) => [source.path, source]))
  const users = new Map<string, Set<string>>()
  for (const source of sources) {
    for (const { target } of importsOf(source)) users.set(target, (users.get(target) ?? new Set()).add(source.path))
  }
  return sources.flatMap((source) => {
    const [first = '', ...more] = users.get(source.path) ?? []
    const user = byPath.get(first)
    if (user === undefined || more.length > 0 || folderOf(first) !== folderOf(source.path)) return []
    if (loadsOnDemand(user, source.path)) return []
    return linesOf(source) < small && linesOf(user) + linesOf(source) < largest ? [source.path] : []
  })
}

import { importsOf } from '../../test/architecture/imports-of.ts'
import type { Source } from '../../test/architecture/source-files.ts'

/** Lines below which a file with one user is hardly worth a name of its own. */
const small = 60
/** What the source rules allow, less the room that the next change needs. */
const largest = 240

/** Files that list others of one kind, such as pages. Readers look for each of those by its name. */
const lists: ReadonlySet<string> = new Set([
  'packages/administration/src/kinds/kinds.ts',
  'packages/console/src/page/administration.js',
  'packages/console/src/page/entry-pages.js',
  'packages/console/src/page/users.js',
  'packages/core/src/endpoints/built-in.ts',
  'packages/create-grantry/src/project.ts',
  'packages/pages/src/account/create-account-pages.ts',
  'packages/pages/src/self-service/index.ts',
  'packages/pages/src/templates/templates.ts',
  'packages/server/src/configuration/schema.ts',
  'packages/server/src/doctor/rules.ts',
  'packages/testing/src/drivers/prove-driver.ts',
  'packages/testing/src/plugin/test-plugin.ts',
  'plugins/account/page.ts',
  'plugins/sign-in/forms.ts',
])

const folderOf = (path: string): string => path.slice(0, path.lastIndexOf('/'))
const linesOf = ({ text }: Source): number => text.split('\n').length - 1

/** Whether a file loads another one when it needs it, which has to be a file for that. */
const loadsOnDemand = ({ text }: Source, path: string): boolean =>
  text.includes(`import('.${path.slice(path.lastIndexOf('/'))}')`)

/** Whether a file only exports what is in others. */
const isEntry = ({ text }: Source): boolean => /^(?:export [^;'=]* from '[^']+'\n)+$/u.test(text)

/** The files from which a script imports types, in a comment. */
const typeImportsOf = ({ path, text }: Source): readonly string[] =>
  [...text.matchAll(/@import \{[^}]*\} from '\.\/([^']+)'/gu)].map(([, name]) => `${folderOf(path)}/${name}`)

/**
 * Returns the small files that only one other file uses, in the same folder, which has room for them.
 *
 * @param tests what they import is understood alone
 */
export function smallFiles(sources: readonly Source[], tests: readonly Source[]): readonly string[] {
  const byPath = new Map(sources.map((source) => [source.path, source]))
  const users = new Map<string, Set<string>>()
  for (const source of sources) {
    for (const target of [...importsOf(source).map((imported) => imported.target), ...typeImportsOf(source)])
      users.set(target, (users.get(target) ?? new Set()).add(source.path))
  }
  const tested = new Set(tests.flatMap((test) => importsOf(test).map(({ target }) => target)))
  return sources.flatMap((source) => {
    const [first = '', ...more] = users.get(source.path) ?? []
    const user = byPath.get(first)
    if (user === undefined || more.length > 0 || folderOf(first) !== folderOf(source.path)) return []
    if (lists.has(first) || tested.has(source.path) || loadsOnDemand(user, source.path)) return []
    if (isEntry(source) || isEntry(user)) return []
    return linesOf(source) < small && linesOf(user) + linesOf(source) < largest ? [source.path] : []
  })
}

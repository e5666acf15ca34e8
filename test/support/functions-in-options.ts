import { readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join, sep } from 'node:path'

/** The path of a file, or only its name if the folder has the same. */
function nameOfFile(path: string): string {
  const name = basename(path, '.ts')
  return dirname(path) === name ? name : `${dirname(path).split(sep).join('/')}/${name}`
}

/** Returns the functions of the host in the schemas of the plugins' options, such as `account.downloadMore`, sorted. */
export function functionsInOptions(): readonly string[] {
  const root = join(import.meta.dirname, '../../plugins')
  const sources = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
    (path) => path.endsWith('.ts') && !/node_modules|dist/u.test(path),
  )
  const names = sources.flatMap((path) =>
    [...readFileSync(join(root, path), 'utf8').matchAll(/^ +(\w+):[^\n]*unctionSchema</gmu)].map(
      ([, option]) => `${nameOfFile(path)}.${option}`,
    ),
  )
  return names.sort()
}

import { readdirSync, readFileSync } from 'node:fs'

/** The files of `templates/`, by their paths, as JSON: defined by the build (`scripts/template-files.js`). */
declare const GRANTRY_TEMPLATES: string | undefined

/** Where the files are in the repository, by the first name of their path. */
const folders: Readonly<Record<string, string>> = { 'mcp-server': '../../../examples/' }

function readSources(folder: string): Readonly<Record<string, string>> {
  const base = new URL(`${folders[folder] ?? '../../../templates/'}${folder}/`, import.meta.url)
  const paths = readdirSync(base, { recursive: true, encoding: 'utf8' }).map((path) => path.replaceAll('\\', '/'))
  return Object.fromEntries(
    paths
      .filter((path) => /\.\w+$/u.test(path) && !/(?:^|\/)(?:node_modules|dist)\//u.test(path))
      .map((path): [string, string] => [path, readFileSync(new URL(path, base), 'utf8')]),
  )
}

/** Returns the files of a folder of `templates/`, or of the example `mcp-server`, by their paths in it. */
export const templatesIn = (folder: string): Readonly<Record<string, string>> =>
  typeof GRANTRY_TEMPLATES === 'undefined' ? readSources(folder) : JSON.parse(GRANTRY_TEMPLATES)[folder]

/** Returns a file, such as `app/client.ts`. */
export function template(path: string): string {
  const [folder = '', ...names] = path.split('/')
  const text = templatesIn(folder)[names.join('/')]
  if (text === undefined) throw new Error(`there is no template ${path}`)
  return text
}

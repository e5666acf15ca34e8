import { readFileSync } from 'node:fs'

/** The files of `templates/`, by their paths, as JSON: defined by the build (`scripts/template-files.js`). */
declare const GRANTRY_TEMPLATES: string | undefined

const built: Readonly<Record<string, string>> | undefined =
  typeof GRANTRY_TEMPLATES === 'undefined' ? undefined : JSON.parse(GRANTRY_TEMPLATES)

/** Returns a file of `templates/`, such as `app/client.ts`. */
export function template(path: string): string {
  const text =
    built === undefined ? readFileSync(new URL(`../../../templates/${path}`, import.meta.url), 'utf8') : built[path]
  if (text === undefined) throw new Error(`there is no template ${path}`)
  return text
}

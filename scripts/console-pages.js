import { readdirSync, readFileSync } from 'node:fs'

function filesIn(folder) {
  const directory = new URL(`../packages/console/src/${folder}/`, import.meta.url)
  const names = readdirSync(directory).filter((name) => /\.(?:html|css|js)$/u.test(name))
  return Object.fromEntries(names.map((name) => [name, readFileSync(new URL(name, directory), 'utf8')]))
}

/**
 * Returns the files of the pages with scripts as one constant for `define` of esbuild or tsup, so that a bundle of the
 * console needs no other files. The constant is a string: an object would be included in every bundle, even unused.
 */
export const consolePagesDefine = () => ({
  GRANTRY_CONSOLE_PAGES: JSON.stringify(JSON.stringify({ console: filesIn('page'), demo: filesIn('demo/page') })),
})

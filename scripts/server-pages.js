import { readdirSync, readFileSync } from 'node:fs'

function filesIn(folder) {
  const directory = new URL(`../packages/server/src/${folder}/page/`, import.meta.url)
  const names = readdirSync(directory).filter((name) => /\.(?:html|css|js)$/u.test(name))
  return Object.fromEntries(names.map((name) => [name, readFileSync(new URL(name, directory), 'utf8')]))
}

/**
 * Returns the files of the pages with scripts as one constant for `define` of esbuild or tsup, so that a bundle of the
 * server needs no other files. The constant is a string: an object would be included in every bundle, even unused.
 */
export const serverPagesDefine = () => ({
  GRANTRY_SERVER_PAGES: JSON.stringify(JSON.stringify({ console: filesIn('console'), demo: filesIn('demo') })),
})

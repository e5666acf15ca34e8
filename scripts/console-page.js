import { readdirSync, readFileSync } from 'node:fs'

const directory = new URL('../packages/server/src/console/page/', import.meta.url)

/**
 * Returns the files of the console page as one constant for `define` of esbuild or tsup, so that a bundle of the server
 * needs no other files. The constant is a string: an object would be included in every bundle, even unused.
 */
export function consolePageDefine() {
  const names = readdirSync(directory).filter((name) => /\.(?:html|css|js)$/u.test(name))
  const files = names.map((name) => [name, readFileSync(new URL(name, directory), 'utf8')])
  return { GRANTRY_CONSOLE_PAGE: JSON.stringify(JSON.stringify(Object.fromEntries(files))) }
}

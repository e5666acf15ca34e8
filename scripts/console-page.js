import { readdirSync, readFileSync } from 'node:fs'

const directory = new URL('../packages/server/src/console/page/', import.meta.url)

/**
 * For `define` of esbuild or tsup: the files of the console's page as one constant, so that a bundle of the server needs nothing beside it. A text and not
 * an object: that would be put into every bundle, also where it is not used.
 */
export function consolePageDefine() {
  const names = readdirSync(directory).filter((name) => /\.(?:html|css|js)$/u.test(name))
  const files = names.map((name) => [name, readFileSync(new URL(name, directory), 'utf8')])
  return { GRANTRY_CONSOLE_PAGE: JSON.stringify(JSON.stringify(Object.fromEntries(files))) }
}

import { readdirSync, readFileSync } from 'node:fs'

const folder = new URL('../templates/', import.meta.url)

/** The paths in `templates/`, without what a build or an installation has written there. */
const paths = () =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => /\.\w+$/u.test(path) && !/(?:^|\/)(?:node_modules|dist)\//u.test(path))
    .sort()

/**
 * Returns the files of `templates/` as a constant for `define` of esbuild or tsup, so that the package create-grantry
 * needs no second copy of them.
 */
export const templateFilesDefine = () => ({
  GRANTRY_TEMPLATES: JSON.stringify(
    JSON.stringify(Object.fromEntries(paths().map((path) => [path, readFileSync(new URL(path, folder), 'utf8')]))),
  ),
})

import { readdirSync, readFileSync } from 'node:fs'

const folders = {
  app: '../templates/app/',
  driver: '../templates/driver/',
  plugin: '../templates/plugin/',
  'mcp-server': '../examples/mcp-server/',
}

/** The files of a folder, without what a build or an installation has written there. */
function filesIn(folder) {
  const base = new URL(folder, import.meta.url)
  const paths = readdirSync(base, { recursive: true, encoding: 'utf8' }).map((path) => path.replaceAll('\\', '/'))
  return Object.fromEntries(
    paths
      .filter((path) => /\.\w+$/u.test(path) && !/(?:^|\/)(?:node_modules|dist)\//u.test(path))
      .sort()
      .map((path) => [path, readFileSync(new URL(path, base), 'utf8')]),
  )
}

/**
 * Returns the templates as a constant for `define` of esbuild or tsup, so that the package create-grantry needs no second
 * copy of them.
 */
export const templateFilesDefine = () => ({
  GRANTRY_TEMPLATES: JSON.stringify(
    JSON.stringify(Object.fromEntries(Object.entries(folders).map(([name, folder]) => [name, filesIn(folder)]))),
  ),
})

import { extname } from 'node:path'
import { pathToFileURL } from 'node:url'

/**
 * Packages that are inside this program, by name, for the modules of an operator. Filled by the single file, which has no `node_modules` in which
 * a configuration would find `grantry` and `@grantry/core`; empty where they are installed.
 */
export const carriedModules = new Map<string, unknown>()

/** The default export of a module of the operator's own: `.ts` too, also on a Node.js that cannot strip types. */
export async function importModule(file: string): Promise<unknown> {
  if (extname(file) === '.ts' || carriedModules.size > 0) {
    const { createJiti } = await import('jiti')
    const jiti = createJiti(import.meta.url, {
      virtualModules: Object.fromEntries(carriedModules),
      // Its cache is a directory of a known name where every user of this machine writes, and what lies in it is run.
      fsCache: false,
      // Bun would get a carried package from the registry before anybody could hand it over.
      tryNative: false,
    })
    return jiti.import(file, { default: true })
  }
  const module: { readonly default?: unknown } = await import(pathToFileURL(file).href)
  return module.default
}

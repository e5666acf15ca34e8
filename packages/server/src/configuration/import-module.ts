import { extname } from 'node:path'
import { pathToFileURL } from 'node:url'

/**
 * Bundled packages by name, for the operator's modules. `grantry.mjs` fills it, because it has no `node_modules` from
 * which a configuration could import `grantry` and `@grantry/core`. Empty if the packages are installed.
 */
export const bundledModules = new Map<string, unknown>()

/** Returns the default export of an operator's module. Supports `.ts`, even if Node.js cannot strip types. */
export async function importModule(file: string): Promise<unknown> {
  if (extname(file) === '.ts' || bundledModules.size > 0) {
    const { createJiti } = await import('jiti')
    const jiti = createJiti(import.meta.url, {
      virtualModules: Object.fromEntries(bundledModules),
      // jiti runs the code in its cache, and every user of this machine can write to the cache directory.
      fsCache: false,
      // Otherwise Bun downloads a bundled package from the registry.
      tryNative: false,
    })
    return jiti.import(file, { default: true })
  }
  const module: { readonly default?: unknown } = await import(pathToFileURL(file).href)
  return module.default
}

/** Returns the default export of a module as it is now, also if this process has loaded it before. */
export async function importFresh(file: string): Promise<unknown> {
  const { createJiti } = await import('jiti')
  const jiti = createJiti(import.meta.url, {
    virtualModules: Object.fromEntries(bundledModules),
    fsCache: false,
    moduleCache: false,
    tryNative: false,
  })
  return jiti.import(file, { default: true })
}

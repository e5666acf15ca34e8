import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

// CommonJS dependencies load Node's modules with `require`.
const banner =
  "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);"

/** Peers stay external, since not all of them can be bundled. */
const packages = [
  'oidc-provider',
  'fastify',
  '@fastify/*',
  '@jmondi/*',
  'jsonwebtoken',
  'better-auth',
  '@better-auth/*',
]

/** Bundled programs in temporary directories. */
export interface Bundles {
  /** Bundles a program with its sources, like the build of a host, and returns the file. */
  bundle(program: string): Promise<string>
  remove(): void
}

/** @param bench the benchmark folder, to which program paths are relative */
export function openBundles(bench: URL): Bundles {
  const isPeer = (program: string): boolean => program.startsWith('peers/')
  const directories = new Map<string, string>()
  /** Below node_modules, so that external packages resolve. */
  const directoryOf = (program: string): string => {
    const cache = fileURLToPath(new URL(`${isPeer(program) ? 'peers' : '..'}/node_modules/.cache/`, bench))
    const known = directories.get(cache)
    if (known !== undefined) return known
    mkdirSync(cache, { recursive: true })
    const directory = mkdtempSync(join(cache, 'grantry-bench-'))
    directories.set(cache, directory)
    return directory
  }
  const made = new Map<string, Promise<string>>()
  const make = async (program: string): Promise<string> => {
    const outfile = join(directoryOf(program), basename(program).replace(/\.ts$/u, '.mjs'))
    await build({
      entryPoints: [fileURLToPath(new URL(program, bench))],
      outfile,
      bundle: true,
      platform: 'node',
      target: 'node20',
      format: 'esm',
      conditions: ['@grantry/source'],
      // An optional dependency of `pg`.
      external: ['pg-native', ...(isPeer(program) ? packages : [])],
      define: { 'process.env.NODE_ENV': '"production"' },
      banner: { js: banner },
      logLevel: 'error',
    })
    return outfile
  }
  return {
    bundle(program) {
      const file = made.get(program) ?? make(program)
      made.set(program, file)
      return file
    },
    remove() {
      for (const directory of directories.values()) rmSync(directory, { recursive: true, force: true })
    },
  }
}

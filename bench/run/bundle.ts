import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

// CommonJS among the dependencies asks for Node's modules by `require`.
const banner = "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);"

/** Peers run from where they are installed: not all of them can be bundled. */
const packages = ['oidc-provider', 'fastify', '@fastify/*', '@jmondi/*', 'jsonwebtoken']

/** Where programs are put until this process ends. */
export interface Bundles {
  /** The file of a program with the sources that it imports, as a host's own build would make it. */
  bundle(program: string): Promise<string>
  remove(): void
}

/** @param bench the folder of the benchmarks, of which every program is told from */
export function openBundles(bench: URL): Bundles {
  // Below the peers' node_modules, so that they are found.
  const cache = fileURLToPath(new URL('peers/node_modules/.cache/', bench))
  mkdirSync(cache, { recursive: true })
  const own = mkdtempSync(join(cache, 'grantry-bench-'))
  const made = new Map<string, Promise<string>>()
  const make = async (program: string): Promise<string> => {
    const outfile = join(own, basename(program).replace(/\.ts$/u, '.mjs'))
    await build({
      entryPoints: [fileURLToPath(new URL(program, bench))],
      outfile,
      bundle: true,
      platform: 'node',
      target: 'node20',
      format: 'esm',
      conditions: ['@grantry/source'],
      external: program.startsWith('peers/') ? packages : [],
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
    remove: () => rmSync(own, { recursive: true, force: true }),
  }
}

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { instrument, type TracedFunction } from './instrument.ts'

/** What a reader of one request passes. */
export interface RequestPath {
  readonly request: string
  /** The functions that the request called, in order. */
  readonly calls: readonly TracedFunction[]
  /** The lines of each file with one of these functions, by its path. */
  readonly lines: ReadonlyMap<string, number>
  readonly storageCalls: number
}

const root = fileURLToPath(new URL('../../', import.meta.url))
const program = fileURLToPath(new URL('traced-requests.ts', import.meta.url))

/** Builds the requests with a call in each function of the packages, and sends them. */
export async function requestPaths(): Promise<readonly RequestPath[]> {
  const lines = new Map<string, number>()
  const functions: TracedFunction[] = []
  const cache = join(root, 'node_modules/.cache')
  mkdirSync(cache, { recursive: true })
  const directory = mkdtempSync(join(cache, 'grantry-trace-'))
  try {
    const outfile = join(directory, 'requests.mjs')
    await build({
      entryPoints: [program],
      outfile,
      bundle: true,
      platform: 'node',
      target: 'node20',
      format: 'esm',
      conditions: ['@grantry/source'],
      plugins: [
        {
          name: 'trace',
          setup({ onLoad }) {
            onLoad({ filter: /\.ts$/ }, async ({ path }) => {
              const tracked = relative(root, path)
              if (!/^(?:packages|plugins)\//u.test(tracked)) return undefined
              const text = await readFile(path, 'utf8')
              lines.set(tracked, text.split('\n').length - 1)
              return { contents: instrument(tracked, text, functions), loader: 'ts' }
            })
          },
        },
      ],
      logLevel: 'error',
    })
    const { traceRequests } = (await import(pathToFileURL(outfile).href)) as typeof import('./traced-requests.ts')
    return (await traceRequests()).map(({ request, calls: indexes, storageCalls }) => {
      const calls = indexes.flatMap((index) => functions[index] ?? [])
      const passed = new Set(calls.map(({ path }) => path))
      return { request, calls, lines: new Map([...lines].filter(([path]) => passed.has(path))), storageCalls }
    })
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

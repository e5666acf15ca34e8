import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { instrument } from './instrument.ts'

/** How much of the tree a reader of one request passes. */
export interface RequestPath {
  readonly request: string
  /** Files of the tree with a function that the request called. */
  readonly files: number
  /** Calls of a function in another file than the call before. */
  readonly moves: number
  /** Lines of these files. */
  readonly lines: number
  readonly storageCalls: number
}

const root = fileURLToPath(new URL('../../', import.meta.url))
const program = fileURLToPath(new URL('traced-requests.ts', import.meta.url))

/** Builds the requests with a call in each function of the packages, sends them, and measures their paths. */
export async function requestPaths(): Promise<readonly RequestPath[]> {
  const linesOf: number[] = []
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
              if (!/^(?:packages|plugins)\//u.test(relative(root, path))) return undefined
              const text = await readFile(path, 'utf8')
              linesOf.push(text.split('\n').length - 1)
              return { contents: instrument(path, text, linesOf.length - 1), loader: 'ts' }
            })
          },
        },
      ],
      logLevel: 'error',
    })
    const { traceRequests } = (await import(pathToFileURL(outfile).href)) as typeof import('./traced-requests.ts')
    return (await traceRequests()).map(({ request, files, storageCalls }) => {
      const passed = [...new Set(files)]
      return {
        request,
        files: passed.length,
        moves: files.filter((file, index) => index > 0 && file !== files[index - 1]).length,
        lines: passed.reduce((sum, file) => sum + (linesOf[file] ?? 0), 0),
        storageCalls,
      }
    })
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { formatInteger } from '../report/figures.ts'
import type { Section } from '../report/section.ts'
import type { Workbench } from './workbench.ts'

interface Size {
  readonly minified: number
  readonly gzipped: number
  /** Bytes of the minified file per package. */
  readonly parts: ReadonlyMap<string, number>
}

const packageOf = (path: string): string =>
  /.*node_modules\/((?:@[^/]+\/)?[^/]+)/u.exec(path)?.[1] ??
  /(?:^|\/)(packages\/[^/]+|plugins)\//u.exec(path)?.[1] ??
  'the program'

/** @param more statements after the program */
async function sizeOf(entry: URL, more = ''): Promise<Size> {
  const path = fileURLToPath(entry)
  const contents = `export { default } from ${JSON.stringify(path)}\n${more}`
  const { outputFiles, metafile } = await build({
    stdin: { contents, resolveDir: dirname(path), loader: 'ts' },
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    platform: 'neutral',
    target: 'es2022',
    format: 'esm',
    mainFields: ['module', 'main'],
    conditions: ['@grantry/source', 'workerd', 'worker'],
    logLevel: 'error',
  })
  const parts = new Map<string, number>()
  for (const { inputs } of Object.values(metafile.outputs)) {
    for (const [path, { bytesInOutput }] of Object.entries(inputs)) {
      parts.set(packageOf(path), (parts.get(packageOf(path)) ?? 0) + bytesInOutput)
    }
  }
  const code = outputFiles[0]?.contents ?? new Uint8Array()
  return { minified: code.length, gzipped: gzipSync(code, { level: 9 }).length, parts }
}

const kilobytes = (bytes: number): string => (bytes / 1000).toFixed(1)

/** The plugins that a provider does not have by default: their modules and exports. */
const plugins = {
  'authorization-code': 'authorizationCode',
  'client-assertion': 'clientAssertion',
  'device-authorization': 'deviceAuthorization',
  dpop: 'dpop',
  fapi2: 'fapi2',
  'jwt-bearer': 'jwtBearer',
  'jwt-introspection': 'jwtIntrospection',
  mtls: 'mtls',
  password: 'password',
  'proof-key': 'proofKey',
  'resource-indicators': 'resourceIndicators',
  'token-exchange': 'tokenExchange',
} as const

/** Measures the bundle size of a Worker with two grants. */
export async function* sizeSection({ bench }: Workbench): AsyncGenerator<Section> {
  const program = new URL('programs/worker.ts', bench)
  const { minified, gzipped, parts } = await sizeOf(program)
  const sorted = [...parts].sort(([, first], [, second]) => second - first)
  yield {
    title: 'Bundle size of a Worker with two grants, with esbuild',
    notes: [
      'The core, the client credentials and refresh token grants, the memory driver and the fetch adapter, with their dependencies.',
      `${formatInteger(gzipped)} bytes gzipped; the target is 40 KB.`,
    ],
    rows: [
      ['', 'KB minified', 'KB gzipped'],
      ['total', kilobytes(minified), kilobytes(gzipped)],
      ...sorted.map(([name, bytes]) => [name, kilobytes(bytes), '']),
    ],
  }
  const sizes = await Promise.all(
    Object.entries(plugins).map(async ([name, factory]) => {
      const plugin = `import { ${factory} } from '@grantry/plugins/${name}'\nexport const plugin = ${factory}()`
      return [name, (await sizeOf(program, plugin)).gzipped - gzipped] as const
    }),
  )
  yield {
    title: 'What a plugin adds to this bundle',
    notes: [
      'Plugins share code, such as the parts of jose, so the bundle with several of them is smaller than the sum.',
    ],
    rows: [
      ['', 'KB gzipped'],
      ...sizes.sort(([, first], [, second]) => second - first).map(([name, bytes]) => [name, kilobytes(bytes)]),
    ],
  }
}

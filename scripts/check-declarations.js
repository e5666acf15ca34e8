// Checks that the built declarations compile with the oldest supported TypeScript, and with each supported major
// version of ioredis. Errors in the declarations of other packages do not count: each has its own oldest TypeScript.
// Checks too that programs with `exactOptionalPropertyTypes` can pass `undefined` for optional properties.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { exactOptionalProperties } from './optional-properties.js'

const require = createRequire(new URL('../test/package.json', import.meta.url))
const ts = require('typescript-oldest')

const root = fileURLToPath(new URL('..', import.meta.url))
const folderOf = (name) => dirname(require.resolve(`${name}/package.json`))

const options = {
  target: ts.ScriptTarget.ES2022,
  lib: ['lib.es2022.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  noEmit: true,
  strict: true,
  exactOptionalPropertyTypes: true,
  types: ['node'],
}

/** A user's program. Its wrong lines must be errors, so that a type which degrades to `any` does not pass. */
const program = `
import { createProvider, type Grant, signingKeys } from '@grantry/core'
import { serve } from '@grantry/adapters/node'
import { clientCredentials } from '@grantry/plugins/client-credentials'
import { redisDriver } from '@grantry/storage-drivers/redis'
import { defineConfig } from 'grantry'
import { Redis } from 'ioredis'
const storage = redisDriver({ client: new Redis({ autoResendUnfulfilledCommands: false }) })
const plugins: Grant[] = [clientCredentials()]
const provider = await createProvider({ issuer: 'https://id.example.com', keys: signingKeys(), storage, clients: [], plugins })
defineConfig({ issuer: 'https://id.example.com', storage: { driver: 'memory' }, clients: [] })
const response: Response = await provider.fetch(new Request('https://id.example.com/'))
await serve(provider)
// @ts-expect-error
redisDriver({ client: 1 })
// @ts-expect-error
new Redis({ port: 'six' })
// @ts-expect-error
await createProvider({ issuer: 1 })
// @ts-expect-error
serve(1)
`

/** Optional properties of all kinds. The check must find those that do not accept `undefined`. */
const sample = `
interface Options { readonly inOptions?: string; readonly fine?: string | undefined; readonly nested: readonly { inArray?: 1 }[] }
export declare function create(options: Options): Promise<{ inResult?: boolean }>
export type Alias = { inAlias?: () => void } | string
export class Thing { inClass?: number }
export type Mapped = Partial<Record<'mapped', number>>
export declare const constant: { unchecked?: string }
`
const inSample = ['inAlias', 'inArray', 'inClass', 'inOptions', 'inResult', 'mapped']

/** The packages whose optional properties are checked. */
const accepting = [
  'packages/core',
  'packages/storage-drivers',
  'packages/adapters',
  'packages/server',
  'packages/users',
  'plugins',
]
/** With `undefined`, these would turn a protection off. */
const exact = ['encryptionSecret', 'proof_key', 'session']

const userFile = join(root, 'test/declarations-user.mts')
const sampleFile = join(root, 'test/declarations-sample.mts')
const written = new Map([
  [userFile, program],
  [sampleFile, sample],
])

/** Returns the declarations that the exports of a package name. */
function entriesOf(folder) {
  const { exports } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  return Object.values(exports).flatMap(({ types }) => (types === undefined ? [] : [join(folder, types)]))
}

/** @throws Error if other optional properties than these refuse `undefined`. */
function assertAccepted(compiled, entries, names) {
  const { found: properties, types } = exactOptionalProperties(compiled, entries)
  const last = [...new Set(properties.map((path) => path.split('.').at(-1)))].sort()
  if (JSON.stringify(last) !== JSON.stringify(names)) {
    throw new Error(
      `only the optional properties ${names.join(', ')} may refuse undefined; these do:\n${properties.join('\n')}`,
    )
  }
  return types
}

/**
 * @param folders the folders of the packages, built.
 * @throws Error with the messages of the compiler.
 */
export function checkDeclarations(folders) {
  const isChecked = (file) => written.has(file) || folders.some((folder) => file.startsWith(join(folder, 'dist')))
  const entries = folders.flatMap(entriesOf)
  // The compiler parses a file once for all programs.
  const parsed = new Map()
  for (const ioredis of ['ioredis', 'ioredis6']) {
    const all = { ...options, baseUrl: '/', paths: { ioredis: [folderOf(ioredis)] } }
    const host = ts.createCompilerHost(all)
    const { getSourceFile } = host
    host.getSourceFile = (file, ...rest) => {
      const known =
        parsed.get(file) ??
        (written.has(file) ? ts.createSourceFile(file, written.get(file), ...rest) : getSourceFile(file, ...rest))
      parsed.set(file, known)
      return known
    }
    const compiled = ts.createProgram([...written.keys(), ...entries], all, host)
    const files = compiled.getSourceFiles().filter(({ fileName }) => isChecked(fileName))
    const messages = files
      .flatMap((file) => [...compiled.getSyntacticDiagnostics(file), ...compiled.getSemanticDiagnostics(file)])
      .map(({ file, start, messageText }) => {
        const { line } = ts.getLineAndCharacterOfPosition(file, start)
        return `${file.fileName}:${line + 1}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`
      })
    if (messages.length > 0) throw new Error(`with TypeScript ${ts.version} and ${ioredis}:\n${messages.join('\n')}`)
    process.stdout.write(
      `${files.length - written.size} declarations compile with TypeScript ${ts.version} and ${ioredis}\n`,
    )
    if (ioredis !== 'ioredis') continue
    assertAccepted(compiled, [sampleFile], inSample)
    const types = assertAccepted(compiled, accepting.map((folder) => join(root, folder)).flatMap(entriesOf), exact)
    process.stdout.write(`the optional properties of ${types} public types accept undefined\n`)
  }
}

import { existsSync, mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { PassThrough } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { main } from '../../packages/create-grantry/src/index.ts'

export const root = fileURLToPath(new URL('../..', import.meta.url))

/** Returns a new empty directory. */
export const emptyDirectory = (): string => mkdtempSync(join(tmpdir(), 'create-'))

/** Runs `create-grantry` in this process. @param typed what a user types; without it, there is no terminal */
export async function create(commandLine: readonly string[], typed?: string) {
  const [input, output, errors] = [new PassThrough(), new PassThrough(), new PassThrough()]
  if (typed !== undefined) input.write(typed)
  input.end()
  const terminal = { input: Object.assign(input, { isTTY: typed !== undefined }), output, errors }
  const code = await main(commandLine, terminal)
  const text = (stream: PassThrough): string => String(stream.read() ?? '')
  return { code, out: text(output), err: text(errors) }
}

const installations = ['node_modules', 'examples/node_modules', 'test/bundlers/node_modules']

/** The folder of a package of this repository, or of its examples and bundlers, which are installed apart. */
export function folderOf(name: string): string {
  const folder = installations.map((each) => join(root, each, name)).find(existsSync)
  if (folder === undefined) {
    throw new Error(`${name} is not installed: npm ci && npm run examples:install && npm ci --prefix test/bundlers`)
  }
  return folder
}

/** The types of React are not installed: any element has any property. */
function writeReactTypes(directory: string): void {
  const folder = join(directory, 'node_modules/@types/react')
  mkdirSync(folder, { recursive: true })
  const namespace = 'export namespace JSX { interface IntrinsicElements { [name: string]: unknown } }\n'
  writeFileSync(join(folder, 'index.d.ts'), 'export type ReactNode = unknown\n')
  writeFileSync(join(folder, 'jsx-runtime.d.ts'), namespace)
  writeFileSync(join(folder, 'package.json'), '{ "name": "@types/react", "version": "19.0.0", "types": "index.d.ts" }')
}

/** Makes packages of this repository resolvable for the programs below a directory. */
export function linkPackages(directory: string, names: Iterable<string>): void {
  for (const name of names) {
    if (name === '@types/react') {
      writeReactTypes(directory)
      continue
    }
    const linked = join(directory, 'node_modules', name)
    mkdirSync(dirname(linked), { recursive: true })
    symlinkSync(folderOf(name), linked)
  }
}

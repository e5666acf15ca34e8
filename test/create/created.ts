import { existsSync, mkdirSync, mkdtempSync, symlinkSync } from 'node:fs'
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

/** The folder of a package of this repository, or of its examples, which are installed apart. */
export function folderOf(name: string): string {
  const folder = ['node_modules', 'examples/node_modules'].map((each) => join(root, each, name)).find(existsSync)
  if (folder === undefined) throw new Error(`${name} is not installed: npm ci && npm run examples:install`)
  return folder
}

/** Makes packages of this repository resolvable for the programs below a directory. */
export function linkPackages(directory: string, names: Iterable<string>): void {
  for (const name of names) {
    const linked = join(directory, 'node_modules', name)
    mkdirSync(dirname(linked), { recursive: true })
    symlinkSync(folderOf(name), linked)
  }
}

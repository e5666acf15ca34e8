import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { main } from '../../packages/create-grantry/src/index.ts'

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

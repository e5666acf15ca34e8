import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { type PrintedOptions, printedWith } from '../server/printed.ts'

let count = 0

/** Writes a configuration with a storage of its own, and runs commands with it. */
export function newService(directory: string, more: object = {}) {
  count += 1
  const file = join(directory, `c${count}.json`)
  const storage = { driver: 'filesystem', directory: `./data${count}`, fsync: false }
  const scopes = [{ name: 'api1' }, { name: 'api2' }]
  const setting = { issuer: 'http://127.0.0.1:8484', storage, administration: true, clients: [], scopes, ...more }
  writeFileSync(file, JSON.stringify(setting), { mode: 0o600 })
  const runWith = (options: PrintedOptions, ...line: readonly string[]) =>
    printedWith(options, ...line, '--config', file)
  const run = (...line: readonly string[]) => runWith({}, ...line)
  /** Runs a command that succeeds, and returns its output. */
  async function out(...line: readonly string[]): Promise<string> {
    const { code, out: printed, err } = await run(...line)
    expect({ code, err }).toEqual({ code: 0, err: '' })
    return printed
  }
  return {
    file,
    run,
    runWith,
    out,
    json: async (...line: readonly string[]) => JSON.parse(await out(...line, '--json')),
    /** Writes a file to apply. */
    write(content: unknown, name = `f${count}.json`): string {
      const path = join(directory, name)
      writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
      return path
    },
  }
}

export const machine = (clientId: string, more: object = {}) => ({
  clientId,
  grantTypes: ['client_credentials'],
  scopes: ['api1'],
  ...more,
})

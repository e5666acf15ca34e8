import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { basic } from '@grantry/testing'
import { expect, onTestFailed } from 'vitest'
import { newService } from '../declaration/setting.ts'
import { printed, printedWith } from '../server/printed.ts'

let count = 0

/** Imports an export, and returns the file, what it declares, and the report. */
export async function imported(directory: string, system: string, content: unknown, ...options: readonly string[]) {
  count += 1
  const file = join(directory, `export${count}.json`)
  const out = join(directory, `imported${count}.json`)
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content))
  const { code, out: output, err } = await printed('import', system, file, '--out', out, ...options)
  expect({ code, output }).toEqual({ code: 0, output: '' })
  const text = readFileSync(out, 'utf8')
  // Without the place of a line, and what became of its member.
  const report = err
    .trim()
    .split('\n')
    .map((line) => line.trim().replace(/ \((?:lost|changed)\)$/u, ''))
  return { file: out, text, declared: JSON.parse(text), report, printed: err }
}

type Form = Readonly<Record<string, string>>

/** Applies a file to a storage, starts the server on it, and sends token requests. */
export async function applied(
  directory: string,
  file: string,
  requests: readonly (readonly [client: readonly [string, string] | undefined, form: Form])[],
  plugins: readonly object[] = [{ name: 'sign-in' }],
) {
  const service = newService(directory, {
    scopes: [],
    plugins,
    storage: { driver: 'filesystem', directory: `./a${count}` },
  })
  /** Runs a command that warns of nothing but clients that the export left without a scope or a grant type. */
  async function out(...line: readonly string[]): Promise<string> {
    const { code, out: text, err } = await service.run(...line)
    const others = err.split('\n').filter((warning) => warning !== '' && !/, so it (?:cannot|never) get/u.test(warning))
    expect({ code, others }).toEqual({ code: 0, others: [] })
    return text
  }
  await out('apply', file, '--yes')
  expect(await out('plan', file, '--prune')).toContain('Nothing to do')
  const bodies: unknown[] = []
  const whileListening = async (url: string) => {
    for (const [credentials, form] of requests) {
      const headers = credentials && { authorization: basic([...credentials]) }
      const response = await fetch(`${url}/connect/token`, {
        method: 'POST',
        body: new URLSearchParams(form),
        ...(headers && { headers }),
      })
      bodies.push({ status: response.status, body: await response.json() })
    }
  }
  const { code, err: log } = await printedWith({ whileListening }, 'serve', '--port', '0', '--config', service.file)
  // Only the log has the reason of a refusal.
  onTestFailed(() => console.error(log))
  expect(code).toBe(0)
  return bodies
}

export const token = { status: 200, body: expect.objectContaining({ access_token: expect.any(String) }) }
export const refusal = (error: string) => ({
  status: expect.any(Number),
  body: expect.objectContaining({ error }),
})

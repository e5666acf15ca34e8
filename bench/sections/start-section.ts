import { execFile, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { reservedPort } from '../../test/support/reserved-port.ts'
import { formatInteger, median } from '../report/figures.ts'
import type { Section } from '../report/section.ts'
import { pinToCore } from '../run/pin-to-core.ts'
import type { Workbench } from './workbench.ts'

/** Time limit for the first response, in milliseconds. */
const timeLimit = 20_000

/** Whether the server on this port responds. */
const responses = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const outgoing = request({ port, host: '127.0.0.1', path: '/.well-known/openid-configuration', agent: false })
    outgoing.once('error', () => resolve(false))
    outgoing.once('response', (response) => {
      response.resume()
      resolve(response.statusCode === 200)
    })
    outgoing.end()
  })

/** Returns the milliseconds from the start of the process to its first response. */
async function startOnce(program: string): Promise<number> {
  const directory = mkdtempSync(join(tmpdir(), 'grantry-bench-'))
  const port = await reservedPort()
  const startedAt = performance.now()
  const [command = '', ...parameters] = pinToCore(0, [process.execPath, program, 'serve', '--port', String(port)])
  const child = spawn(command, parameters, { cwd: directory, stdio: 'ignore' })
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  try {
    while (!(await responses(port))) {
      if (performance.now() - startedAt > timeLimit || child.exitCode !== null) {
        throw new Error('grantry serve does not respond')
      }
      await sleep(2)
    }
    return performance.now() - startedAt
  } finally {
    child.kill('SIGKILL')
    await ended
    rmSync(directory, { recursive: true, force: true })
  }
}

/** Measures the start of the built server: the demo, with a file store. */
export async function* startSection({ bench }: Workbench): AsyncGenerator<Section> {
  await promisify(execFile)('npm', ['run', 'build'], { cwd: fileURLToPath(new URL('../', bench)) })
  const program = fileURLToPath(new URL('../packages/server/bin/grantry.js', bench))
  // The first start reads the files from disk.
  await startOnce(program)
  const times: number[] = []
  for (let count = 0; count < 7; count += 1) times.push(await startOnce(program))
  yield {
    title: 'Start of the standalone server (`grantry serve`) to its first response, on Node',
    notes: ['Seven starts. The target is a median of 250 ms.'],
    rows: [
      ['', 'ms'],
      ['median', formatInteger(median(times))],
      ['shortest', formatInteger(Math.min(...times))],
      ['longest', formatInteger(Math.max(...times))],
    ],
  }
}

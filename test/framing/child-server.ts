import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect } from 'vitest'
import { serverCertificate } from '../mtls/https.ts'
import { bundleText } from '../support/bundle-text.ts'
import { exchange, type Target } from './exchange.ts'
import { readResponses } from './raw-responses.ts'
import { probe, tokenRequest } from './requests.ts'

/** Seconds for a process to start listening, and to exit. */
const timeLimit = 60

/** A runtime and its adapter. */
export interface ServerUnderTest {
  readonly name: string
  /** The entry of `@grantry/adapters` with its `serve`. */
  readonly adapter: string
  /** The command that runs the bundle; its first part is the program. */
  readonly command: readonly string[]
  /**
   * Names of cases that the runtime handles before our code. The tests check that they do no harm, but not their
   * responses. Absent when our code handles the connection.
   */
  readonly differs?: readonly string[]
  /** Whether the server terminates TLS. */
  readonly overTls?: boolean
}

/** One real server process. */
export interface FramingServer extends Target {
  /**
   * Returns the clients that got a token since the last call. Requests a token itself, to prove that the server still
   * serves.
   */
  issuedSince(): Promise<readonly string[]>
  /** Whether the runtime itself handles this case. */
  differs(name: string): boolean
  /**
   * Whether our code closes the connections. Bun and Deno close theirs themselves, sometimes with a reset after a
   * complete response.
   */
  readonly endsItsConnections: boolean
  /** Returns the bytes of memory in use after a garbage collection. For the program `memory-server` only. */
  held(): Promise<number>
  /** Returns everything on standard error. */
  warnings(): string
  stop(): Promise<void>
}

const tls = { certificate: serverCertificate.pem, key: serverCertificate.keyPem, requestCertificates: true }

/** A file in `programs` that exports `run`. */
export type ServerProgram = 'framing-server' | 'memory-server'

const entryFor = (adapter: string, program: ServerProgram): string => `
  import { serve } from ${JSON.stringify(adapter)}
  import { run } from './programs/${program}.ts'
  await run(serve)
`

/** @throws Error with the output of the process when it does not listen. */
export async function startFramingServer(
  { adapter, command, differs, overTls }: ServerUnderTest,
  program: ServerProgram,
  requestTimeout: number,
): Promise<FramingServer> {
  const file = await bundleText(entryFor(adapter, program), new URL('.', import.meta.url))
  const [executable = '', ...parameters] = command
  const child = spawn(executable, [...parameters, file], {
    env: {
      ...process.env,
      GRANTRY_TEST_PARENT: String(process.pid),
      GRANTRY_TEST_REQUEST_TIMEOUT: String(requestTimeout),
      NO_COLOR: '1',
      ...(overTls && { GRANTRY_TEST_TLS: JSON.stringify(tls) }),
    },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const ended = once(child, 'exit')
  let output = ''
  let errors = ''
  child.stdout.on('data', (data) => {
    output += data
  })
  child.stderr.on('data', (data) => {
    errors += data
  })
  const lives = (): boolean => child.exitCode === null && child.signalCode === null
  const printed = (): string => `output of the server: ${output}${errors}`
  /** Waits until the output has what is looked for. */
  const lookFor = <T>(look: () => T | undefined): Promise<T> =>
    new Promise((resolve, reject) => {
      const check = (): void => {
        const match = look()
        if (match === undefined) return
        child.stdout.off('data', check)
        resolve(match)
      }
      child.stdout.on('data', check)
      void ended.then(() => reject(new Error(printed())))
      check()
    })
  const port = await lookFor(() => /^listening (\d+)$/mu.exec(output)?.[1])
  output = ''

  const target = { port: Number(port), overTls }
  return {
    ...target,
    async issuedSince() {
      expect(lives(), printed()).toBe(true)
      const { text } = await exchange(target, [tokenRequest({ as: probe })])
      expect(readResponses(text)).toMatchObject([{ status: 200, body: expect.stringContaining('"access_token"') }])
      // Output is in order: when our own line has arrived, those of earlier requests have too.
      const lastLine = `issued ${probe[0]}\n`
      await lookFor(() => output.includes(lastLine) || undefined)
      const [earlier = ''] = output.split(lastLine)
      output = output.slice(earlier.length + lastLine.length)
      return [...earlier.matchAll(/^issued (.+)$/gmu)].map(([, client = '']) => client)
    },
    async held() {
      child.stdin.write('\n')
      const [line, bytes] = await lookFor(() => /held (\d+)\n/u.exec(output) ?? undefined)
      output = output.replace(line, '')
      return Number(bytes)
    },
    differs: (name) => differs?.includes(name) === true,
    endsItsConnections: differs === undefined || overTls === true,
    warnings: () => errors,
    async stop() {
      child.kill('SIGTERM')
      const late = setTimeout(() => child.kill('SIGKILL'), timeLimit * 1000)
      await ended
      clearTimeout(late)
    },
  }
}

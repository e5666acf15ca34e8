import { spawn, spawnSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import type { Readable, Writable } from 'node:stream'

const names = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome']

const isAvailable = (file: string): boolean => spawnSync(file, ['--version'], { stdio: 'ignore' }).status === 0

/** Returns the path of Chromium from CHROMIUM or the PATH; `undefined` if there is none. */
export function findChromium({ CHROMIUM: named, PATH = '' }: NodeJS.ProcessEnv): string | undefined {
  if (named !== undefined) return isAvailable(named) ? named : undefined
  const folders = PATH.split(delimiter).filter((folder) => folder !== '')
  return folders.flatMap((folder) => names.map((name) => join(folder, name))).find(isAvailable)
}

type Values = Readonly<Record<string, unknown>>

/** Chromium, which takes commands of the DevTools protocol through a pipe. */
export interface Chromium {
  /** Sends a command. @throws with the message of Chromium if it fails */
  send(method: string, params?: Values, sessionId?: string): Promise<Values>
  /** Waits for the next event of a session. */
  next(method: string, sessionId: string): Promise<void>
  close(): Promise<void>
}

interface Message {
  readonly id?: number
  readonly method?: string
  readonly sessionId?: string
  readonly result?: Values
  readonly error?: { readonly message: string }
}

/** Starts Chromium without a window, and with an empty profile. */
export async function startChromium(file: string): Promise<Chromium> {
  const profile = await mkdtemp(join(tmpdir(), 'grantry-pictures-'))
  // Root cannot use the sandbox of Chromium.
  const more = process.getuid?.() === 0 ? ['--no-sandbox'] : []
  const options = ['--headless', '--remote-debugging-pipe', '--no-first-run', '--disable-background-networking']
  const child = spawn(file, [...options, ...more, `--user-data-dir=${profile}`], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
  })
  const [, , , input, output] = child.stdio as unknown as [null, null, null, Writable, Readable]
  const waiting = new Map<number | string, (message: Message) => void>()
  const ended = new Promise<Message>((resolve) => {
    const error = { message: 'Chromium has ended' }
    child.once('exit', () => resolve({ error })).once('error', () => resolve({ error }))
  })
  let id = 0
  let text = ''
  output.setEncoding('utf8').on('data', (chunk: string) => {
    const [last = '', ...complete] = `${text}${chunk}`.split('\0').reverse()
    text = last
    for (const json of complete.reverse()) {
      const message = JSON.parse(json) as Message
      const key = message.id ?? `${message.sessionId} ${message.method}`
      waiting.get(key)?.(message)
      waiting.delete(key)
    }
  })
  input.on('error', () => {})
  const reply = (key: number | string): Promise<Message> =>
    Promise.race([new Promise<Message>((resolve) => waiting.set(key, resolve)), ended])

  return {
    async send(method, params = {}, sessionId) {
      id += 1
      const answer = reply(id)
      input.write(`${JSON.stringify({ id, method, params, ...(sessionId !== undefined && { sessionId }) })}\0`)
      const { result = {}, error } = await answer
      if (error !== undefined) throw new Error(`${method}: ${error.message}`)
      return result
    },
    async next(method, sessionId) {
      await reply(`${sessionId} ${method}`)
    },
    async close() {
      child.kill()
      await ended
      await rm(profile, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

import { Readable } from 'node:stream'
import { vi } from 'vitest'
import { main } from '../../packages/server/src/cli.ts'
import { listeningAddress } from '../support/listening.ts'
import type { Ended } from './running-program.ts'

export interface PrintedOptions {
  /** Standard input; empty by default. */
  readonly input?: string
  /** Runs once a server listens, with its URL. The server stops afterwards. */
  readonly whileListening?: (url: string) => Promise<unknown>
}

/** Runs `grantry <args>` in this process and returns its output. A server stops as soon as it listens. */
export const printed = (...args: readonly string[]): Promise<Ended> => printedWith({}, ...args)

/**
 * The same with options. Unless the arguments name a format, a server writes its text log. Leaves out the warnings of the
 * process: another test can have caused them.
 */
export async function printedWith(
  { input = '', whileListening }: PrintedOptions,
  ...args: readonly string[]
): Promise<Ended> {
  const format = args[0] === 'serve' && !args.includes('--log-format') ? ['--log-format', 'text'] : []
  let used: Promise<unknown> | undefined
  // A server runs until it receives a signal.
  const stopSoon = (url: string): void => {
    used ??= Promise.resolve(whileListening?.(url)).finally(() => setImmediate(() => process.emit('SIGTERM')))
  }
  let out = ''
  let err = ''
  const stdin = vi
    .spyOn(process, 'stdin', 'get')
    .mockReturnValue(Readable.from([Buffer.from(input)]) as typeof process.stdin)
  const writes = [
    vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
      out += String(text)
      const [, url] = /^Grantry is listening on (\S+)/u.exec(String(text)) ?? []
      if (url !== undefined) stopSoon(url)
      return true
    }),
    vi.spyOn(process.stderr, 'write').mockImplementation((text: unknown, ...rest: readonly unknown[]) => {
      err += String(text)
      const address = listeningAddress(String(text))
      if (address !== undefined) stopSoon(`http://${address}`)
      const done = rest.at(-1)
      if (typeof done === 'function') done()
      return true
    }),
  ]
  const warnings = vi.spyOn(process, 'emitWarning').mockReturnValue()
  try {
    const code = await main([...args, ...format])
    await used
    return { code, out, err }
  } finally {
    for (const spy of [stdin, warnings, ...writes]) spy.mockRestore()
  }
}
